package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// progress shows on a terminal how far a run has come. A nil *progress shows nothing.
type progress struct {
	w     io.Writer
	width int // of what is shown
}

// newProgress returns nil unless w is a terminal.
func newProgress(w io.Writer, quiet bool) *progress {
	f, ok := w.(*os.File)
	if !ok || quiet {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return &progress{w: w}
}

func (p *progress) show(made, of int) {
	if p == nil {
		return
	}
	text := fmt.Sprintf("check %d of %d", made+1, of)
	fmt.Fprintf(p.w, "\r%-*s", p.width, text)
	p.width = len(text)
}

// done takes away what was shown.
func (p *progress) done() {
	if p != nil {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.width))
	}
}
