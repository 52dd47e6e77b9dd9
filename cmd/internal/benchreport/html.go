package benchreport

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed page.html
var pageSource string

var page = template.Must(template.New("page").Parse(pageSource))

// WriteHTML writes the report as one page that needs nothing else: the table, and for
// each workload the distribution of its latencies and its throughput over time.
func WriteHTML(w io.Writer, r *Report) error {
	var table bytes.Buffer
	if err := WriteTable(&table, r); err != nil {
		return err
	}
	type section struct {
		Name, Target, ID    string
		Latency, Throughput template.HTML
	}
	data := struct {
		RunID, Started, Incomplete, Table string
		Sections                          []section
	}{RunID: r.RunID, Started: r.Started.Format("2006-01-02 15:04:05 MST"), Incomplete: r.Incomplete, Table: table.String()}
	for i, group := range groups(r.Rows) {
		latency, err := latencyPlot(group)
		if err != nil {
			return fmt.Errorf("plot the latencies of %s: %w", group[0].Workload, err)
		}
		throughput, err := throughputPlot(group)
		if err != nil {
			return fmt.Errorf("plot the throughput of %s: %w", group[0].Workload, err)
		}
		data.Sections = append(data.Sections, section{
			Name: group[0].Workload, Target: group[0].Target, ID: fmt.Sprintf("w%d", i+1), Latency: svg(latency), Throughput: svg(throughput),
		})
	}
	return page.Execute(w, data)
}

// svg cuts what precedes the element, which may stand in a file alone.
func svg(text string) template.HTML {
	if i := strings.Index(text, "<svg"); i >= 0 {
		text = text[i:]
	}
	return template.HTML(text)
}
