package benchreport

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// logPrefix begins the comment that holds the rest of the report.
const logPrefix = "#[leasebench "

// WriteLog writes the report as an HdrHistogram log, which [ReadLog] and the tools of
// that format read: a histogram for each row, tagged target|workload|by. A comment
// holds the rest as JSON.
func WriteLog(w io.Writer, r *Report) error {
	head, err := json.Marshal(r)
	if err != nil {
		return err
	}
	out := hdrhistogram.NewHistogramLogWriter(w)
	if err := out.OutputLogFormatVersion(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s%s]\n", logPrefix, head); err != nil {
		return err
	}
	start := r.Started.UnixMilli()
	if err := errors.Join(out.OutputStartTime(start), out.OutputLegend()); err != nil {
		return err
	}
	for i, row := range r.Rows {
		h := hdrhistogram.Import(row.Hist.Export())
		h.SetTag(tag(i, row))
		h.SetStartTimeMs(start)
		h.SetEndTimeMs(start + row.Elapsed.Milliseconds())
		if err := out.OutputIntervalHistogram(h); err != nil {
			return err
		}
	}
	return nil
}

// tag names the row of a histogram. A tag may have no comma and no blank.
func tag(i int, r *Row) string {
	text := fmt.Sprintf("%d|%s|%s|%s", i, r.Target, r.Workload, r.By)
	return strings.NewReplacer(",", ";", " ", "_", "\n", "_").Replace(text)
}

// ReadLog reads what [WriteLog] has written.
func ReadLog(in io.Reader) (*Report, error) {
	all, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	r, err := readHead(all)
	if err != nil {
		return nil, err
	}
	logs := hdrhistogram.NewHistogramLogReader(bytes.NewReader(all))
	for i, row := range r.Rows {
		h, err := logs.NextIntervalHistogram()
		if err != nil {
			return nil, fmt.Errorf("read the histogram of row %d: %w", i+1, err)
		}
		if h == nil || h.Tag() != tag(i, row) {
			return nil, fmt.Errorf("the histogram of row %d is missing: the file was cut off or edited", i+1)
		}
		row.Hist = NewHistogram()
		if lost := row.Hist.Merge(h); lost > 0 {
			return nil, fmt.Errorf("the histogram of row %d has %d values out of range", i+1, lost)
		}
	}
	return r, nil
}

func readHead(all []byte) (*Report, error) {
	lines := bufio.NewScanner(bytes.NewReader(all))
	lines.Buffer(nil, len(all)+1)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), logPrefix)
		if !ok {
			continue
		}
		r := &Report{}
		if err := json.Unmarshal([]byte(strings.TrimSuffix(text, "]")), r); err != nil {
			return nil, fmt.Errorf("read the head: %w", err)
		}
		if r.Schema != Schema {
			return nil, fmt.Errorf("the log is of schema %q, want %q", r.Schema, Schema)
		}
		return r, nil
	}
	return nil, errors.New("it is not a log of leasebench: make one with -log FILE")
}
