package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// killForked kills what a server that was killed has left running, and waits
// until it is gone. The children of PostgreSQL would go on for a moment, and
// finish what they were at; until then it does not start again. They are known
// by their working folder, which is the server's own or lies in it: each has a
// process group of its own, and no parent any more.
func killForked(dir string) error {
	over := time.After(patience)
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for {
		all, err := filepath.Glob("/proc/[0-9]*/cwd")
		if err != nil {
			return err
		}
		left := 0
		for _, link := range all {
			// Of what has ended, and of others' processes, it can't be read.
			cwd, err := os.Readlink(link)
			if err != nil || cwd != dir && !strings.HasPrefix(cwd, dir+"/") {
				continue
			}
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link)))
			if err != nil {
				return err
			}
			left++
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("kill process %d of the server: %w", pid, err)
			}
		}
		if left == 0 {
			return nil
		}
		select {
		case <-over:
			return fmt.Errorf("%d processes of the server in %s can't be killed", left, dir)
		case <-again.C:
		}
	}
}
