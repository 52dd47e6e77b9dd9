// Command conformance writes the table of clauses into CONFORMANCE.md. It is
// run by go generate ./leasetest.
//
//	conformance FILE
//
// What stands in FILE outside of the generated section is left as it is.
package main

import (
	"fmt"
	"os"

	"github.com/leasekit/lease/internal/conformance/render"
	"github.com/leasekit/lease/leasetest"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: conformance FILE, got %d arguments", len(args))
	}
	path := args[0]
	old, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read document: %w", err)
	}
	section, err := render.Section(leasetest.Clauses())
	if err != nil {
		return err
	}
	doc, err := render.Splice(string(old), section)
	if err != nil {
		return fmt.Errorf("splice clauses into %s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(doc), 0o644); err != nil {
		return fmt.Errorf("write document: %w", err)
	}
	return nil
}
