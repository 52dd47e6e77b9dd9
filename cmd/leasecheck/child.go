package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	dir, err := os.MkdirTemp("", "leasecheck-*")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the child process: %w", err)
	}
	defer os.RemoveAll(dir)
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	file := filepath.Join(dir, "report.json")
	cmd := exec.Command(exe, s.childArgs()...)
	cmd.Env = append(os.Environ(), childFile+"="+file)
	if s.progress != nil && runtime.GOOS != "windows" {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		defer r.Close()
		defer w.Close()
		cmd.ExtraFiles = []*os.File{w}
		go s.progress.follow(r)
	}
	ended := cage.Run(ctx, cmd, cage.Limits{Time: s.timeout + farewell, Memory: childMemory})
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("the run was ended: %w", ctx.Err())
		case ended == nil:
			ended = errors.New("it left no report, and ended as if all were well")
		}
		return leasetest.Died(s.named(s.shown), ended.Error()), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the report of the child process: %w", err)
	}
	var r leasetest.Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("decode the report of the child process: %w", err)
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
