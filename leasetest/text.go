package leasetest

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"text/tabwriter"
)

// failureText is a failure as a person reads it: the clause, the backend, what
// happened, the history as a table, and the command that repeats it.
func failureText(backend string, c Clause, f *Failure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s) is broken by %s\n\n", c.ID, c.Level, backend)
	fmt.Fprintf(&b, "    %s\n\n", wrapped(c.Sentence, 90, "    "))
	fmt.Fprintf(&b, "%s\n(found by %s)\n", wrapped(f.Problem, 94, ""), f.Found)
	if len(f.History) > 0 {
		b.WriteString("\n" + historyTable(f.History))
	}
	for _, file := range f.Files {
		fmt.Fprintf(&b, "\nsaved: %s", file)
	}
	if len(f.Files) > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\nrepeat: %s\n", f.Repeat)
	return b.String()
}

// historyTable lays a history out in columns.
func historyTable(events []Event) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	date := ""
	if len(events) > 0 && len(events[0].Time) > 10 {
		date = events[0].Time[:10]
	}
	head := "server clock"
	if date != "" {
		head += " (UTC)"
	}
	fmt.Fprintf(w, "    #\t%s\tworker\tcall\treply\n", head)
	for i, e := range events {
		fmt.Fprintf(w, "    %d\t%s\t%s\t%s\t%s\n", i+1, e.Time, e.Worker, e.Call, e.Reply)
		if e.Want != "" {
			fmt.Fprintf(w, "    \t\t\t\tcontract: %s\n", e.Want)
		}
	}
	w.Flush()
	return b.String()
}

// wrapped breaks text into lines of about width columns.
func wrapped(text string, width int, indent string) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case n+1+len(word) > width:
			b.WriteString("\n" + indent)
			n = 0
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += len(word)
	}
	return b.String()
}

// packageOf is the import path of the package that open is written in, for the
// command that repeats a failure.
func packageOf(open func(testing.TB) *Harness) string {
	if open == nil {
		return ""
	}
	name := runtime.FuncForPC(reflect.ValueOf(open).Pointer()).Name()
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot < 0 {
		return ""
	}
	pkg := strings.TrimSuffix(name[:slash+dot], "_test")
	if pkg == "main" || !strings.Contains(pkg, "/") {
		return "" // a command's package has no name to be found by
	}
	return pkg
}
