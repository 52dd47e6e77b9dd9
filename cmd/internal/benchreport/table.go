package benchreport

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteTable writes the report for people.
func WriteTable(w io.Writer, r *Report) error {
	out := &strings.Builder{}
	if r.Incomplete != "" {
		fmt.Fprintf(out, "INCOMPLETE: %s\n\n", r.Incomplete)
	}
	fmt.Fprintln(out, describe(r))
	for i, group := range groups(r.Rows) {
		if i == 0 || group[0].Target != groups(r.Rows)[i-1][0].Target {
			fmt.Fprintf(out, "\n%s\n", group[0].Target)
			out.WriteString(header)
		}
		writeGroup(out, group)
	}
	text, err := align(out.String())
	if err != nil {
		return err
	}
	var notes []string
	for _, s := range r.Skipped {
		notes = append(notes, fmt.Sprintf("%s, %s: not measured: %s", s.Target, s.Workload, s.Why))
	}
	for _, row := range r.Rows {
		notes = append(notes, notesOf(row)...)
	}
	notes = append(notes, sampledNotes(r.Rows)...)
	if len(notes) > 0 {
		text += "\n" + strings.Join(notes, "\n") + "\n"
	}
	text += "\n" + legend
	_, err = io.WriteString(w, text)
	return err
}

const header = "workload\tby\tcalls/s\tp50\tp90\tp99\tp99.9\tmax\tx floor\tallocs\tserver\t\n"

const legend = `x floor: median time of a call as a multiple of that of the same number of bare round
trips, taken in turns with them (the median of all rounds); allocs: objects allocated
for a call in this process; server: time that the server spent on a call, where it tells.
Compare ratios: times depend on the machine and on what else it does.
`

func describe(r *Report) string {
	s := r.Setup
	loop := "closed loop"
	if s.Rate > 0 {
		loop = fmt.Sprintf("open loop, %s calls/s, latency from the intended start", number(s.Rate))
	}
	amount := s.Duration.String()
	if s.Count > 0 {
		amount = fmt.Sprintf("%d calls", s.Count)
	}
	text := fmt.Sprintf("run %s, %s, %s for each row, %s, ttl %v, %s %s/%s, %s",
		r.RunID, plural(s.Workers, "worker"), amount, loop, s.TTL, r.Machine.Go, r.Machine.GOOS, r.Machine.GOARCH, plural(r.Machine.CPUs, "CPU"))
	if r.Merged > 0 {
		text += fmt.Sprintf(", merged of %d runs", r.Merged)
	}
	return text
}

func plural(n int, what string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// groups are the rows of one workload on one target, the floor last.
func groups(rows []*Row) [][]*Row {
	var out [][]*Row
	for _, row := range rows {
		if n := len(out); n > 0 && out[n-1][0].Target == row.Target && out[n-1][0].Workload == row.Workload {
			out[n-1] = append(out[n-1], row)
			continue
		}
		out = append(out, []*Row{row})
	}
	for _, group := range out {
		slices.SortStableFunc(group, func(a, b *Row) int { return cmp.Compare(rank(a), rank(b)) })
	}
	return out
}

func rank(r *Row) int {
	switch r.By {
	case Lease:
		return 0
	case Floor:
		return 2
	}
	return 1
}

func writeGroup(w io.Writer, group []*Row) {
	for i, row := range group {
		workload := row.Workload
		if i > 0 {
			workload = ""
		}
		ratio := "-"
		if row.By == Floor {
			ratio = "1"
		} else if row.Ratio > 0 {
			ratio = fmt.Sprintf("%.2f", row.Ratio)
		}
		server := "-"
		if row.Server.Known {
			server = fmt.Sprintf("%.1fµs", row.Server.Value)
		}
		allocs := "-"
		if row.Allocs.Known {
			allocs = fmt.Sprintf("%.1f", row.Allocs.Value)
		}
		l := row.Latency
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", workload, row.By, number(row.PerSec),
			duration(l.P50), duration(l.P90), duration(l.P99), duration(l.P999), duration(l.Max), ratio, allocs, server)
	}
}

// align lines up the columns: names to the left, figures to the right.
func align(text string) (string, error) {
	out := &strings.Builder{}
	for block := range strings.SplitSeq(text, "\n\n") {
		if out.Len() > 0 {
			out.WriteString("\n")
		}
		tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		width := [2]int{}
		lines := strings.Split(strings.TrimSuffix(block, "\n"), "\n")
		for _, line := range lines {
			if cells := strings.Split(line, "\t"); len(cells) > 2 {
				width[0], width[1] = max(width[0], len(cells[0])), max(width[1], len(cells[1]))
			}
		}
		for _, line := range lines {
			if cells := strings.Split(line, "\t"); len(cells) > 2 {
				cells[0], cells[1] = fmt.Sprintf("%-*s", width[0], cells[0]), fmt.Sprintf("%-*s", width[1], cells[1])
				line = strings.Join(cells, "\t")
			}
			fmt.Fprintln(tw, line)
		}
		if err := tw.Flush(); err != nil {
			return "", err
		}
	}
	return out.String(), nil
}

// notesOf says what else is to be known about a row.
func notesOf(r *Row) []string {
	var notes []string
	at := fmt.Sprintf("%s, %s by %s: ", r.Target, r.Workload, r.By)
	if r.ErrorCount() > 0 {
		var kinds []string
		for _, kind := range slices.Sorted(maps.Keys(r.Errors)) {
			kinds = append(kinds, fmt.Sprintf("%d %s", r.Errors[kind], kind))
		}
		notes = append(notes, at+fmt.Sprintf("%d of %d calls failed: %s", r.ErrorCount(), r.Calls, strings.Join(kinds, ", ")))
	}
	if r.Refused > 0 && r.By != Floor {
		notes = append(notes, at+fmt.Sprintf("%.0f %% of the calls were refused", 100*float64(r.Refused)/float64(r.Calls)))
	}
	if r.Unserved > 0 {
		notes = append(notes, at+fmt.Sprintf("the rate was not reached: %d calls that were due were never begun; they count with the time that they had waited", r.Unserved))
	}
	return notes
}

// sampledNotes says of which targets not every call was timed.
func sampledNotes(rows []*Row) []string {
	var notes []string
	for i, row := range rows {
		if i > 0 && row.Target == rows[i-1].Target {
			continue
		}
		most := int64(1)
		for _, o := range rows {
			if o.Target == row.Target {
				most = max(most, o.Sampled)
			}
		}
		if most > 1 {
			notes = append(notes, fmt.Sprintf("%s, all workloads: of the fastest calls one in up to %d was timed, to keep the cost of the clock out of the rates and ratios", row.Target, most))
		}
	}
	return notes
}

// number shows a figure with three digits and separators of thousands.
func number(f float64) string {
	if f < 1000 {
		return fmt.Sprintf("%.3g", f)
	}
	text := fmt.Sprintf("%.0f", f)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}

// duration shows ns with three digits.
func duration(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d < time.Microsecond:
		return fmt.Sprintf("%dns", ns)
	case d < time.Millisecond:
		return fmt.Sprintf("%.3gµs", round3(float64(ns)/1e3))
	case d < time.Second:
		return fmt.Sprintf("%.3gms", round3(float64(ns)/1e6))
	}
	return fmt.Sprintf("%.3gs", d.Seconds())
}

// round3 keeps 999.9 from being shown as 1e+03.
func round3(f float64) float64 { return min(f, 999) }
