package chaos

import (
	"context"
	"errors"
)

// pause is a program that stands still.
type pause struct {
	traffic
	pid     func() (int, error)
	stopped []int
}

// Pause stops a program and all its children by SIGSTOP; healing lets them go
// on. It hits the requests on the links that come meanwhile.
func Pause(p Process, links ...*Link) Fault {
	return &pause{pid: p.Pid, traffic: traffic{links: links, what: begun}}
}

func (f *pause) Name() string { return "process/pause" }

func (f *pause) Available() error {
	pid, err := f.pid()
	if err != nil {
		return err
	}
	_, err = descendants(pid)
	return err
}

func (f *pause) Start(ctx context.Context) error {
	pid, err := f.pid()
	if err != nil {
		return err
	}
	f.begin()
	// The parent first: it makes no more children then.
	for met := map[int]bool{}; ; {
		all, err := descendants(pid)
		if err != nil {
			return err
		}
		fresh := 0
		for _, pid := range all {
			if !met[pid] && stop(ctx, pid) == nil { // else it has just ended
				f.stopped = append(f.stopped, pid)
				fresh++
			}
			met[pid] = true
		}
		if fresh == 0 {
			return ctx.Err()
		}
	}
}

func (f *pause) Heal(context.Context) error {
	f.end()
	var failed error
	for n := len(f.stopped) - 1; n >= 0; n-- {
		failed = errors.Join(failed, proceed(f.stopped[n]))
	}
	f.stopped = nil
	return failed
}
