package chaos

import "context"

// cut is a server that nobody reaches.
type cut struct{ onLink }

// Cut ends the connections of a link and refuses new ones.
func Cut(l *Link) Fault { return &cut{onLink{link: l}} }

func (f *cut) Name() string { return "link/cut" }

func (f *cut) Start(context.Context) error {
	if err := f.link.put(f); err != nil {
		return err
	}
	for _, p := range f.link.all() {
		if p.busy() {
			f.hit()
		}
		p.end()
	}
	return nil
}

func (f *cut) Heal(context.Context) error { f.link.lift(f); return nil }

func (f *cut) dial(context.Context, <-chan struct{}) error {
	f.hit()
	return errRefused
}

// request meets a connection that was about to be opened at the start.
func (f *cut) request(p *pipe, piece []byte, _ <-chan struct{}) bool {
	if len(piece) > 0 {
		f.hit()
	}
	p.end()
	return false
}
