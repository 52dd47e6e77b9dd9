package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// descendants returns a process and all its children, parents first.
func descendants(pid int) ([]int, error) {
	all := []int{pid}
	for n := 0; n < len(all); n++ {
		// Each thread has children of its own.
		lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", all[n]))
		if err != nil {
			return nil, err
		}
		if n == 0 && len(lists) == 0 {
			return nil, fmt.Errorf("process %d does not run, or its children can't be found", pid)
		}
		for _, list := range lists {
			text, err := os.ReadFile(list)
			if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
				continue // it has just ended
			}
			if err != nil {
				return nil, err
			}
			for _, word := range strings.Fields(string(text)) {
				child, err := strconv.Atoi(word)
				if err != nil {
					return nil, fmt.Errorf("read %s: %w", list, err)
				}
				all = append(all, child)
			}
		}
	}
	return all, nil
}

// stop stops a process and returns when all its threads stand still: they take
// the signal when they next look.
func stop(ctx context.Context, pid int) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	again := time.NewTicker(100 * time.Microsecond)
	defer again.Stop()
	for running(pid) {
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("process %d does not stop: %w", pid, ctx.Err())
		}
	}
	return nil
}

// running says whether a thread of the process does not stand still.
func running(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			continue // it has just ended
		}
		// The state comes after the name, which is in brackets.
		state := bytes.TrimLeft(text[bytes.LastIndexByte(text, ')')+1:], " ")
		if len(state) > 0 && !bytes.ContainsRune([]byte("TtZX"), rune(state[0])) {
			return true
		}
	}
	return false
}

// proceed lets a process go on. One that has been killed meanwhile need not.
func proceed(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil && err != syscall.ESRCH {
		return fmt.Errorf("let process %d go on: %w", pid, err)
	}
	return nil
}
