package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/leasekit/lease/cmd/internal/report"
	"github.com/leasekit/lease/leasetest"
)

const matrixUsage = `leasecheck report [-o FILE] [NAME=]A.json [[NAME=]B.json...]

Makes one matrix of many reports, clause by clause: as Markdown on stdout, or in
FILE, as a page if that ends in .html. The reports are those of leasecheck run
-report and of go test -lease.report; NAME is what to call the backend instead of what
the report does.

Flags:
`

// matrix is the command report.
func matrix(_ context.Context, w, wErr io.Writer, args []string) int {
	flags := newFlags("report", matrixUsage, wErr)
	out := flags.String("o", "", "write to this `file`, .html or .md")
	files, code, ok := parse(flags, args, 1, -1)
	if !ok {
		return code
	}
	write := report.MatrixMarkdown
	switch {
	case strings.HasSuffix(*out, ".html"):
		write = report.MatrixHTML
	case *out != "" && !strings.HasSuffix(*out, ".md"):
		return misused(flags, fmt.Errorf("-o %s: want a name that ends in .html or .md", *out))
	}
	var reports []*leasetest.Report
	for _, file := range files {
		name, path, named := strings.Cut(file, "=")
		if !named {
			path = file
		}
		r, err := report.Read(path)
		if err != nil {
			fmt.Fprintln(wErr, "leasecheck:", err)
			return exitNothing
		}
		if named {
			r.Backend = name
		}
		reports = append(reports, r)
	}
	err := error(nil)
	if *out == "" {
		err = write(w, reports)
	} else {
		err = report.WriteFile(*out, func(w io.Writer) error { return write(w, reports) })
	}
	if err != nil {
		fmt.Fprintln(wErr, "leasecheck:", err)
		return exitNothing
	}
	return exitOK
}
