package need

import (
	"runtime"
	"strings"
	"testing"
)

// ending is a test that notes how it was ended.
type ending struct {
	testing.TB
	how, text string
}

func (e *ending) Helper()           {}
func (e *ending) Fatal(args ...any) { e.end("failed", args) }
func (e *ending) Skip(args ...any)  { e.end("skipped", args) }
func (e *ending) end(how string, args []any) {
	e.how, e.text = how, args[0].(string)
	runtime.Goexit()
}

func TestMissing(t *testing.T) {
	for value, want := range map[string]string{"": "skipped", "0": "skipped", "1": "failed", "yes": "failed"} {
		t.Setenv("LEASE_REQUIRE_SERVERS", value)
		e := &ending{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			Missing(e, "there is no Redis")
		}()
		<-done
		if e.how != want || !strings.HasPrefix(e.text, "there is no Redis") {
			t.Errorf("with %q the test is %s by %q, want it %s", value, e.how, e.text, want)
		}
	}
}
