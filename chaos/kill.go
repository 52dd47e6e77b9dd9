package chaos

import "context"

// kill is a program that is away for a while.
type kill struct {
	Process
	traffic
	graceful bool
}

// Kill ends a program by force. Healing starts it again. It hits the calls on the
// links that found it gone.
func Kill(p Process, links ...*Link) Fault {
	return &kill{Process: p, traffic: traffic{links: links, what: broken}}
}

// Restart ends a program in order. Healing starts it again.
func Restart(p Process, links ...*Link) Fault {
	return &kill{Process: p, traffic: traffic{links: links, what: broken}, graceful: true}
}

func (f *kill) Name() string {
	if f.graceful {
		return "process/restart"
	}
	return "process/kill"
}

// Available implements [Fault].
func (f *kill) Available() error {
	_, err := f.Pid()
	return err
}

// Start implements [Fault]: of the program it is the end.
func (f *kill) Start(context.Context) error {
	f.begin()
	if f.graceful {
		return f.Stop()
	}
	return f.Process.Kill()
}

// Heal implements [Fault].
func (f *kill) Heal(context.Context) error {
	f.end()
	return f.Process.Start()
}
