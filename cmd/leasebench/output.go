package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/leasekit/lease/cmd/internal/benchreport"
)

// output says where the results go, and in which forms.
type output struct {
	format string
	json   bool
	log    string
	hgrm   string
	html   string
}

var formats = map[string]func(io.Writer, *benchreport.Report) error{
	"table": benchreport.WriteTable,
	"json":  benchreport.WriteJSON,
	"bench": benchreport.WriteGoBench,
}

func (o *output) register(flags *flag.FlagSet) {
	flags.StringVar(&o.format, "o", "table", "")
	flags.BoolVar(&o.json, "json", false, "")
	flags.StringVar(&o.log, "log", "", "")
	flags.StringVar(&o.hgrm, "hgrm", "", "")
	flags.StringVar(&o.html, "html", "", "")
}

func (o *output) check() error {
	if o.json {
		o.format = "json"
	}
	if formats[o.format] == nil {
		return usagef("-o is %.40q, want table, json or bench", o.format)
	}
	return nil
}

// files are the files that are written besides the standard output.
func (o *output) files() map[string]func(io.Writer, *benchreport.Report) error {
	all := map[string]func(io.Writer, *benchreport.Report) error{}
	if o.log != "" {
		all[o.log] = benchreport.WriteLog
	}
	if o.html != "" {
		all[o.html] = benchreport.WriteHTML
	}
	return all
}

// prepare makes sure, before anything is measured, that the files can be written. It
// leaves those that exist as they are.
func (o *output) prepare() error {
	for name := range o.files() {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
		if err != nil {
			return usagef("the results can't be written: %w", err)
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	if o.hgrm != "" {
		if err := os.MkdirAll(o.hgrm, 0o777); err != nil {
			return usagef("the results can't be written: %w", err)
		}
	}
	return nil
}

// write writes the report in all its forms.
func (o *output) write(stdout io.Writer, r *benchreport.Report) error {
	for name, form := range o.files() {
		f, err := os.Create(name)
		if err != nil {
			return err
		}
		if err := errors.Join(form(f, r), f.Close()); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	if o.hgrm != "" {
		if err := benchreport.WritePercentiles(o.hgrm, r); err != nil {
			return err
		}
	}
	return formats[o.format](stdout, r)
}
