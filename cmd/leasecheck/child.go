package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/leasekit/lease/internal/cage"
	"github.com/leasekit/lease/leasetest"
)

// A client of a store lives in the process that judges it, and may end it: so the
// suite runs in a child, which is this program once more. The environment tells the
// child what it is.
const (
	childFile   = "LEASECHECK_CHILD_REPORT" // where the report goes
	childMemory = 2 << 30
	farewell    = 10 * time.Second // for the child to end by itself after the timeout
)

func isChild() bool { return os.Getenv(childFile) != "" }

// judgeInChild runs the suite in a child. One that leaves no report died of what it
// judged.
func (s *settings) judgeInChild(ctx context.Context) (*leasetest.Report, error) {
	child := cage.Child{
		Args: s.childArgs(), File: childFile,
		Limits: cage.Limits{Time: s.timeout + farewell, Memory: childMemory},
	}
	if s.progress != nil && runtime.GOOS != "windows" {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		defer r.Close()
		defer w.Close()
		child.Pipe = w
		go s.progress.follow(r)
	}
	var r leasetest.Report
	ended, err := child.Run(ctx, &r)
	switch {
	case err != nil:
		return nil, err
	case ended != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("the run was ended: %w", ctx.Err())
	case ended != nil:
		return leasetest.Died(s.named(s.shown), ended.Error()), nil
	}
	return &r, nil
}

// childArgs are the arguments with which the child makes the same settings.
func (s *settings) childArgs() []string {
	args := []string{
		"run", "-checks", strconv.Itoa(s.checks), "-timeout", s.timeout.String(), "-limit", s.limit.String(),
		"-seed", strconv.FormatUint(s.seed, 10), "-strict=" + strconv.FormatBool(s.strict), "-name", s.name,
		"-histories", s.histories,
	}
	if s.declaredIn != "" {
		args = append(args, "-deviations", s.declaredIn)
	}
	return append(args, "--", s.target)
}

// tellParent is the child's progress: a line for each check into the pipe that it
// has inherited, if there is one.
func tellParent() func(made, of int) {
	pipe := os.NewFile(3, "progress")
	if pipe == nil {
		return nil
	}
	if _, err := pipe.Stat(); err != nil {
		return nil
	}
	return func(made, of int) { fmt.Fprintf(pipe, "%d %d\n", made, of) }
}

// follow shows the progress of the child.
func (p *progress) follow(pipe *os.File) {
	for {
		var made, of int
		if _, err := fmt.Fscanf(pipe, "%d %d\n", &made, &of); err != nil {
			return
		}
		p.show(made, of)
	}
}
