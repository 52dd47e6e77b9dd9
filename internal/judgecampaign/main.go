// Command judgecampaign judges saved campaigns of package chaos once more, and
// writes pictures of the bad keys beside them:
//
//	go run ./internal/judgecampaign .report/chaos/redis-pair-3/campaign-3.json
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/leasekit/lease/chaos"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "judgecampaign:", err)
		os.Exit(1)
	}
}

var errFailed = errors.New("a campaign does not pass")

func run(files []string, w io.Writer) error {
	if len(files) == 0 {
		return errors.New("give it the files of campaigns: campaign-*.json")
	}
	var failed error
	for _, file := range files {
		saved, err := chaos.Load(file)
		if err != nil {
			return err
		}
		r := saved.Judge(filepath.Dir(file))
		if _, err := io.WriteString(w, r.String()); err != nil {
			return err
		}
		if r.Verdict != chaos.Pass {
			failed = errFailed
		}
	}
	return failed
}
