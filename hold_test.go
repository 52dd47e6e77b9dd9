package lease_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/leasekit/lease"
	memlease "github.com/leasekit/lease/impl/memory"
)

// deaf is a service whose renewals hang until their contexts end.
type deaf struct{ lease.Service }

func (d deaf) Renew(ctx context.Context, _ lease.Lease, _ time.Duration) (lease.Lease, error) {
	<-ctx.Done()
	return lease.Lease{}, ctx.Err()
}

// jobs is an empty store, whose server clock is that of the bubble.
func jobs() lease.Service {
	return memlease.New(&memlease.Options{Now: time.Now}).Service("jobs")
}

// set is what time.Now returns after the wall clock was set: another time of day,
// and the same monotonic reading.
func set(t time.Time, by time.Duration) time.Time {
	words := (*struct {
		wall uint64 // a bit, 33 bits of seconds, 30 bits of nanoseconds
		ext  int64  // the monotonic reading
		loc  *time.Location
	})(unsafe.Pointer(&t))
	words.wall += uint64(by/time.Second) << 30
	return t
}

// While renewals hang, the body is cancelled at the very instant at which the lease
// may end, also after the wall clock was set (HOLD-4).
func TestHoldCancelsInTime(t *testing.T) {
	for name, step := range map[string]time.Duration{"never set": 0, "set back": -time.Hour, "set ahead": time.Hour} {
		t.Run(name, func(t *testing.T) {
			// In a bubble times have no monotonic reading; here they do.
			real := time.Now()
			if got := set(real, step); got.Sub(real) != 0 || got.Round(0).Sub(real.Round(0)) != step {
				t.Fatal("a time.Time is not laid out as this test believes")
			}
			synctest.Test(t, func(t *testing.T) {
				asked := time.Now()
				lease.SetNow(t, func() time.Time {
					passed := time.Since(asked)
					now := real.Add(passed)
					if passed > 0 {
						now = set(now, step)
					}
					return now
				})
				var cancelled time.Duration
				err := lease.Hold(t.Context(), deaf{jobs()}, "job", &lease.HoldOptions{TTL: time.Minute, Margin: time.Second},
					func(ctx context.Context, l lease.Lease) error {
						<-ctx.Done()
						cancelled = time.Since(asked)
						if cause := context.Cause(ctx); !errors.Is(cause, lease.ErrLost) {
							t.Errorf("the cause is %v, want ErrLost", cause)
						}
						return nil
					})
				if want := 59 * time.Second; cancelled != want {
					t.Errorf("the body was cancelled after %v, want %v", cancelled, want)
				}
				if !errors.Is(err, lease.ErrLost) {
					t.Errorf("got %v, want ErrLost", err)
				}
			})
		})
	}
}

// A body that ends its goroutine, as t.FailNow does, releases the lease too.
func TestHoldGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, done := jobs(), make(chan struct{})
		go func() {
			defer close(done)
			_ = lease.Hold(t.Context(), leases, "job", nil, func(context.Context, lease.Lease) error {
				runtime.Goexit()
				return nil
			})
			t.Error("Hold returned, want its goroutine ended")
		}()
		<-done
		if _, err := leases.Get(t.Context(), "job"); !errors.Is(err, lease.ErrNotHeld) {
			t.Errorf("got %v, want the lease released", err)
		}
	})
}

// The body's own error comes back as it is when nothing else went wrong.
func TestHoldReturnsTheBodysError(t *testing.T) {
	own := errors.New("the body's own")
	if err := lease.Hold(t.Context(), jobs(), "job", nil, func(context.Context, lease.Lease) error { return own }); err != own {
		t.Errorf("got %v, want the body's own error", err)
	}
}

// Within the body's context is what the caller put into his.
func TestHoldKeepsTheCallersValues(t *testing.T) {
	type name struct{}
	ctx := context.WithValue(t.Context(), name{}, "caller")
	err := lease.Hold(ctx, jobs(), "job", nil, func(ctx context.Context, _ lease.Lease) error {
		if got := ctx.Value(name{}); got != "caller" {
			t.Errorf("got the value %v, want the caller's", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestHoldOptions(t *testing.T) {
	leases := jobs()
	body := func(context.Context, lease.Lease) error { return nil }
	for name, tt := range map[string]struct {
		service lease.Service
		key     string
		o       lease.HoldOptions
		body    func(context.Context, lease.Lease) error
		says    string // "" if it is valid
	}{
		"defaults":           {leases, "job", lease.HoldOptions{}, body, ""},
		"longest ttl":        {leases, "job", lease.HoldOptions{TTL: 1<<63 - 1}, body, ""},
		"longest wait":       {leases, "job", lease.HoldOptions{Wait: 1<<63 - 1}, body, ""},
		"half a ttl":         {leases, "job", lease.HoldOptions{TTL: time.Second, RenewEvery: time.Second / 2}, body, ""},
		"no service":         {nil, "job", lease.HoldOptions{}, body, "the service is nil"},
		"no body":            {leases, "job", lease.HoldOptions{}, nil, "the body is nil"},
		"no key":             {leases, "", lease.HoldOptions{}, body, "the key is empty"},
		"negative ttl":       {leases, "job", lease.HoldOptions{TTL: -1}, body, "the ttl is -1ns"},
		"ttl of a blink":     {leases, "job", lease.HoldOptions{TTL: 2}, body, "RenewEvery is 0s"},
		"long holder":        {leases, "job", lease.HoldOptions{Holder: strings.Repeat("h", lease.MaxName)}, body, "the holder has"},
		"holder with a NUL":  {leases, "job", lease.HoldOptions{Holder: "a\x00"}, body, "NUL"},
		"negative wait":      {leases, "job", lease.HoldOptions{Wait: -1}, body, "Wait is -1ns"},
		"negative interval":  {leases, "job", lease.HoldOptions{RenewEvery: -1}, body, "RenewEvery is -1ns"},
		"interval over half": {leases, "job", lease.HoldOptions{TTL: time.Second, RenewEvery: time.Second/2 + 1}, body, "at most 500ms"},
		"negative margin":    {leases, "job", lease.HoldOptions{Margin: -1}, body, "Margin is -1ns"},
		"margin too large":   {leases, "job", lease.HoldOptions{TTL: 3 * time.Second, Margin: 2 * time.Second}, body, "less than 2s"},
	} {
		t.Run(name, func(t *testing.T) {
			err := lease.Hold(t.Context(), tt.service, tt.key, &tt.o, tt.body)
			switch {
			case tt.says == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case tt.says != "" && (!errors.Is(err, lease.ErrInvalid) || !strings.Contains(err.Error(), tt.says)):
				t.Errorf("got %v, want ErrInvalid that says %q", err, tt.says)
			}
		})
	}
}
