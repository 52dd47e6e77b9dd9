package leasetest

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
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

// FailureText is the failure of the clause as a person reads it, the backend's name
// in it; "" if there is none.
func (r Result) FailureText(backend string) string {
	if r.Failure == nil {
		return ""
	}
	return failureText(backend, Clause{ID: r.ID, Level: r.Level, Sentence: r.Sentence}, r.Failure)
}

// Table is the history in columns, as text.
func (f *Failure) Table() string { return historyTable(f.History) }

// historyTable lays a history out in columns.
func historyTable(events []Event) string {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "    #\t%s\tworker\tcall\treply\n", timeHeading(events))
	for i, e := range events {
		fmt.Fprintf(w, "    %d\t%s\t%s\t%s\t%s\n", i+1, e.Time, e.Worker, e.Call, e.Reply)
		if e.Want != "" {
			fmt.Fprintf(w, "    \t\t\t\tcontract: %s\n", e.Want)
		}
	}
	w.Flush()
	var b strings.Builder
	for line := range strings.Lines(table.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// timeHeading says what the times of a history are.
func timeHeading(events []Event) string {
	for _, e := range events {
		switch {
		case strings.HasPrefix(e.Time, "+"):
			return "since the check began"
		case e.Time != "":
			return "server clock (UTC)"
		}
	}
	return "server clock"
}

// wrapped breaks text into lines of about width columns.
func wrapped(text string, width int, indent string) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case n+1+utf8.RuneCountInString(word) > width:
			b.WriteString("\n" + indent)
			n = 0
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += utf8.RuneCountInString(word)
	}
	return b.String()
}

// packageOf is the import path of the package that the function open is written
// in, for the command that repeats a failure.
func packageOf(open any) string {
	f := reflect.ValueOf(open)
	if f.Kind() != reflect.Func || f.IsNil() {
		return ""
	}
	return packageIn(runtime.FuncForPC(f.Pointer()).Name())
}

// callerPackage is the import path of the package whose function calls the
// function of this package that calls this one.
func callerPackage() string {
	pc, _, _, ok := runtime.Caller(2)
	if !ok {
		return ""
	}
	return packageIn(runtime.FuncForPC(pc).Name())
}

// packageIn is the import path in the full name of a function.
func packageIn(name string) string {
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
