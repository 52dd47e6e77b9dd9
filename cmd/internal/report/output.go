// Package report writes what the suite found, in the formats that people, CI servers
// and web pages read.
package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/leasekit/lease/leasetest"
)

// format is one way to write a report.
type format struct {
	name   string
	ending string // of a file; it may contain a dot
	write  func(io.Writer, *leasetest.Report) error
}

// formats are all there are; the longer endings first.
var formats = []format{
	{"badge", ".badge.json", Badge},
	{"json", ".json", JSON},
	{"junit", ".xml", JUnit},
	{"markdown", ".md", Markdown},
	{"html", ".html", HTML},
	{"text", ".txt", Text},
}

// Names lists the formats.
func Names() string { return list(func(f format) string { return f.name }) }

// Endings lists the endings of files.
func Endings() string { return list(func(f format) string { return f.ending }) }

func list(of func(format) string) string {
	var all []string
	for _, f := range formats {
		all = append(all, of(f))
	}
	return strings.Join(all, ", ")
}

// Output is a file that a report is written to.
type Output struct {
	file   string
	format format
}

// Outputs finds the format of each file: the one named, or that of the ending.
func Outputs(files []string, name string) ([]Output, error) {
	if name != "" && len(files) == 0 {
		return nil, errors.New("-format says how -report writes, but there is no -report")
	}
	var all []Output
	for _, file := range files {
		f, ok := find(file, name)
		switch {
		case !ok && name != "":
			return nil, fmt.Errorf("there is no format %q; there is %s", name, Names())
		case !ok:
			return nil, fmt.Errorf("-report %s: no format has this ending; give it one of %s, or a -format", file, Endings())
		}
		all = append(all, Output{file, f})
	}
	return all, nil
}

func find(file, name string) (format, bool) {
	for _, f := range formats {
		if name == f.name || name == "" && strings.HasSuffix(file, f.ending) {
			return f, true
		}
	}
	return format{}, false
}

// Write writes the report. The file is there in full or not at all.
func (o Output) Write(r *leasetest.Report) error {
	return WriteFile(o.file, func(w io.Writer) error { return o.format.write(w, r) })
}

// WriteFile makes a file of what write writes; it is there in full or as it was.
func WriteFile(file string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".leasecheck-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	defer os.Remove(f.Name()) // once it is renamed, there is none
	if err = errors.Join(write(f), f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

// JSON writes the report as leasetest does with -lease.report; CONFORMANCE.md has
// the schema.
func JSON(w io.Writer, r *leasetest.Report) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the report: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// Read reads a report that JSON has written.
func Read(file string) (*leasetest.Report, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var r leasetest.Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s is no report: %w", file, err)
	}
	switch {
	case r.Version != leasetest.ReportVersion:
		return nil, fmt.Errorf("%s has version %d of the schema, want %d", file, r.Version, leasetest.ReportVersion)
	case len(r.Clauses) == 0:
		return nil, fmt.Errorf("%s is no report: it has no clauses", file)
	}
	return &r, nil
}
