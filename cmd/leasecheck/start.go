package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const startUsage = `leasecheck init [-dir FOLDER] go|node|python|java

Writes a starter: for go a test that runs the suite, for the others an adapter that
leasecheck run 'exec:...' judges. Put your lease in where it says so. A file that is
there already is left alone.

Flags:
`

//go:embed starters
var starters embed.FS

// starter is a file to begin with.
type starter struct{ file, next string }

var starterOf = map[string]starter{
	"go":     {"lease_conformance_test.go", "go test -run TestLeaseConformance ."},
	"node":   {"adapter.js", "leasecheck run 'exec:node adapter.js'"},
	"python": {"adapter.py", "leasecheck run 'exec:python3 adapter.py'"},
	"java":   {"Adapter.java", "leasecheck run 'exec:java Adapter.java'"},
}

// start is the command init.
func start(_ context.Context, w, wErr io.Writer, args []string) int {
	flags := newFlags("init", startUsage, wErr)
	dir := flags.String("dir", ".", "write into this `folder`")
	names, code, ok := parse(flags, args, 1, 1)
	if !ok {
		return code
	}
	s, ok := starterOf[names[0]]
	if !ok {
		return misused(flags, fmt.Errorf("there is no starter for %q", names[0]))
	}
	// Kept with another ending, so that no tool takes it for a part of this module.
	text, err := starters.ReadFile("starters/" + s.file + ".txt")
	if err == nil {
		err = create(filepath.Join(*dir, s.file), text)
	}
	if err != nil {
		fmt.Fprintln(wErr, "leasecheck:", err)
		return exitNothing
	}
	fmt.Fprintf(w, "wrote %s; put your lease into it, and then:\n\n    %s\n", filepath.Join(*dir, s.file), s.next)
	return exitOK
}

// create makes a file that is not there yet.
func create(file string, text []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already, and left alone", file)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
