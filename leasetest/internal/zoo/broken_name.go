package zoo

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/leasekit/lease"
)

// nameFaults break the limits of keys and holders.
func nameFaults() []Animal {
	return []Animal{
		{
			Name: "empty-holder-taken", Clause: "ARG-1",
			Kinds:  []string{"B008"},
			Fault:  "Acquire takes an empty holder, and calls it anonymous.",
			Source: "https://github.com/anthony-chaudhary/fak/issues/12109",
			Open: bred(func(r *rules) {
				r.checkAcquire = func(key, holder string, ttl time.Duration) error {
					return lease.CheckAcquire(key, cmp.Or(holder, "anonymous"), ttl)
				}
				r.acquire = func(c *call, holder string, ttl time.Duration) (lease.Lease, error) {
					return acquire(c, cmp.Or(holder, "anonymous"), ttl)
				}
			}),
		},
		takesName("nul-taken", "Acquire takes names with NUL.", "",
			func(name string) bool { return strings.Contains(name, "\x00") && len(name) <= lease.MaxName }),
		takesName("broken-utf8-taken", "Acquire takes names that are not UTF-8.", "",
			func(name string) bool { return !utf8.ValidString(name) && len(name) <= lease.MaxName }),
		takesName("length-in-letters", "Acquire counts the length of a name in letters.", "",
			func(name string) bool {
				return len(name) > lease.MaxName && utf8.RuneCountInString(name) <= lease.MaxName
			}),
		takesName("length-off-by-one", "Acquire takes names of one byte too many.", "",
			func(name string) bool { return len(name) == lease.MaxName+1 }),
		{
			Name: "long-key-refused", Clause: "ARG-1",
			Kinds:  []string{"B073"},
			Fault:  "Keys of more than 255 bytes do not fit into their column, and are refused as invalid.",
			Source: "https://github.com/laravel/framework/issues/60171",
			Open: bred(func(r *rules) {
				r.checkAcquire = func(key, holder string, ttl time.Duration) error {
					if len(key) > 255 {
						return fmt.Errorf("%w: the key has %d bytes, want 1 to 255", lease.ErrInvalid, len(key))
					}
					return lease.CheckAcquire(key, holder, ttl)
				}
			}),
		},
		{
			Name: "long-key-means-held", Clause: "ARG-1",
			Fault:  "Keys of more than 255 bytes do not fit into their column, and every error of the insert is read as held.",
			Kinds:  []string{"B073"},
			Source: "https://github.com/laravel/framework/issues/60171",
			Open: bred(func(r *rules) {
				r.blocked = func(c *call, _ string, _ time.Duration) bool { return live(c) || len(c.key) > 255 }
			}),
		},
		{
			Name: "zero-token-is-any", Clause: "ARG-1",
			Fault:  "Release compares the token only if there is one: 0 frees every grant of the holder.",
			Kinds:  []string{"B008"},
			Source: "https://github.com/anthony-chaudhary/fak/issues/12109",
			Open: bred(func(r *rules) {
				r.checkRelease = func(l lease.Lease) error {
					l.Token = max(l.Token, 1)
					return lease.CheckLease(l)
				}
				r.releasable = func(c *call, l lease.Lease) bool {
					return c.matches(l) || c.rec != nil && c.rec.holder == l.Holder && l.Token <= 0
				}
			}),
		},
		{
			Name: "empty-holder-is-any", Clause: "ARG-1",
			Fault:  "Renew compares the holder only if there is one: an empty one renews every grant with the token.",
			Kinds:  []string{"B008"},
			Source: "https://github.com/anthony-chaudhary/fak/issues/11360",
			Open: bred(func(r *rules) {
				r.checkRenew = func(l lease.Lease, ttl time.Duration) error {
					l.Holder = cmp.Or(l.Holder, "anybody")
					return lease.CheckRenew(l, ttl)
				}
				r.renewable = func(c *call, l lease.Lease) bool {
					return live(c) && c.rec.token == l.Token && (l.Holder == "" || l.Holder == c.rec.holder)
				}
			}),
		},
	}
}

// takesName breaks ARG-1: Acquire also takes the keys and holders for which
// takes says so.
func takesName(name, fault, source string, takes func(name string) bool) Animal {
	return Animal{
		Name: name, Clause: "ARG-1", Fault: fault, Source: source,
		Open: bred(func(r *rules) {
			r.checkAcquire = func(key, holder string, ttl time.Duration) error {
				if takes(key) {
					key = "k"
				}
				if takes(holder) {
					holder = "h"
				}
				return lease.CheckAcquire(key, holder, ttl)
			}
		}),
	}
}
