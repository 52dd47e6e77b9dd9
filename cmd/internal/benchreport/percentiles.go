package benchreport

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// WritePercentiles writes the latency distribution of each row, in µs, to a file of
// its own in the folder, in the format that HdrHistogram's plotter reads.
func WritePercentiles(dir string, r *Report) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for i, row := range r.Rows {
		kind, _, _ := strings.Cut(row.Target, ":")
		name := fmt.Sprintf("%02d-%s-%s-%s.hgrm", i+1, kind, row.Workload, row.By)
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		_, err = row.Hist.PercentilesPrint(f, 5, 1e3)
		if err := errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}
