package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// progress is a line on a terminal that says what is being done.
type progress struct {
	w    io.Writer // nil: there is no terminal
	last int
}

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	if !ok {
		return &progress{}
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return &progress{}
	}
	return &progress{w: w}
}

func (p *progress) show(doing string, done float64) {
	if p.w == nil {
		return
	}
	line := fmt.Sprintf("%3.0f %%  %s", 100*done, doing)
	fmt.Fprintf(p.w, "\r%s%s", line, strings.Repeat(" ", max(0, p.last-len(line))))
	p.last = len(line)
}

func (p *progress) clear() {
	if p.w != nil && p.last > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.last))
	}
}
