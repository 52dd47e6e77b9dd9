package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/leasekit/lease/chaos"
	"github.com/leasekit/lease/internal/history"
)

const judgeUsage = `leasecheck judge [flags] FILE.json...

Judges again, without the store, what was saved when it was seen to fail: concurrent
histories of leasetest – is there a sequential order of the calls that explains their
replies? – and whole campaigns of package chaos. Pictures of the bad keys of a campaign
are written beside its file.

The exit code is 0 if all is well, 1 if something is not, and 3 if the time did not
suffice or a campaign's faults hit nothing.

Flags:
`

// judgeAgain is the command judge.
func judgeAgain(_ context.Context, w, wErr io.Writer, args []string) int {
	flags := newFlags("judge", judgeUsage, wErr)
	limit := flags.Duration("timeout", time.Minute, "`time` to think about each history of leasetest")
	files, code, ok := parse(flags, args, 1, -1)
	if !ok {
		return code
	}
	code = exitOK
	for _, file := range files {
		got, err := judgeFile(w, file, *limit)
		if err != nil {
			fmt.Fprintln(wErr, "leasecheck:", err)
			got = exitNothing
		}
		code = worse(code, got)
	}
	return code
}

// worse is the code to end with: what is surely broken goes first.
func worse(a, b int) int {
	if a == exitBroken || b == exitOK {
		return a
	}
	return b
}

// judgeFile judges what a file holds, and returns the exit code for it.
func judgeFile(w io.Writer, file string, limit time.Duration) (int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	var campaign struct{ Histories []json.RawMessage }
	if json.Unmarshal(text, &campaign) == nil && len(campaign.Histories) > 0 {
		return judgeCampaign(w, file)
	}
	var h history.History
	if err := json.Unmarshal(text, &h); err != nil {
		return 0, fmt.Errorf("%s is neither a history nor a campaign: %w", file, err)
	}
	if len(h.Calls) == 0 {
		return 0, fmt.Errorf("%s is neither a history nor a campaign: it has no calls", file)
	}
	return judgeHistory(w, file, h, limit), nil
}

// meaning is what the verdicts on a history say, with their exit codes.
var meaning = map[history.Verdict]struct {
	text string
	code int
}{
	history.Ok:      {"some sequential order of the calls explains their replies", exitOK},
	history.Illegal: {"no sequential order of the calls explains their replies (EXCL-5)", exitBroken},
	history.Unknown: {"the time did not suffice", exitNothing},
}

func judgeHistory(w io.Writer, file string, h history.History, limit time.Duration) int {
	verdict := history.Judge(h, limit)
	fmt.Fprintf(w, "%s: %s: %s\n", file, verdict, meaning[verdict].text)
	if verdict == history.Illegal {
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, c := range h.Calls {
			fmt.Fprintf(table, "    +%v to +%v\t%c\t%s\t%s\n", c.Called.Round(time.Microsecond), c.Returned.Round(time.Microsecond), 'A'+rune(c.Worker%26), c.Text, c.ReplyTxt)
		}
		table.Flush()
	}
	return meaning[verdict].code
}

func judgeCampaign(w io.Writer, file string) (int, error) {
	saved, err := chaos.Load(file)
	if err != nil {
		return 0, err
	}
	r := saved.Judge(filepath.Dir(file))
	if _, err := io.WriteString(w, r.String()); err != nil {
		return 0, err
	}
	switch r.Verdict {
	case chaos.Pass:
		return exitOK, nil
	case chaos.Fail:
		return exitBroken, nil
	}
	return exitNothing, nil
}
