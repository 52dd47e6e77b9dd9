package zoo

import (
	"strconv"
	"strings"

	"github.com/leasekit/lease"
)

// holderFaults break EXCL-6: they take two holders for one.
func holderFaults() []Animal {
	return []Animal{
		lookAlike("holder-case-folded", "Holders are compared without regard to case.", strings.EqualFold),
		lookAlike("holder-blank-padded", "Holders are compared without blanks at their ends, as a PAD SPACE collation does.",
			func(has, asks string) bool { return strings.TrimRight(has, " ") == strings.TrimRight(asks, " ") }),
		lookAlike("holder-normal-form", "Holders are compared in Unicode normal form C.",
			func(has, asks string) bool { return composed(has) == composed(asks) }),
		lookAlike("holder-prefix", "A holder whose name goes on where the other's ends is taken for the same.",
			func(has, asks string) bool { return strings.HasPrefix(has, asks) || strings.HasPrefix(asks, has) }),
		lookAlike("holder-as-number", "Holders that look like numbers are compared as numbers.",
			func(has, asks string) bool {
				x, err := strconv.ParseFloat(has, 64)
				y, other := strconv.ParseFloat(asks, 64)
				return has == asks || err == nil && other == nil && x == y
			}),
		{
			Name: "holder-cut-at-colon", Clause: "KEY-3",
			Fault:  "Holder and token stand in one text with a colon between them, and what follows the first colon is taken for the token.",
			Along:  []string{"EXCL-6"},
			Nature: "holders that are the same up to their colon are one",
			Open: bred(func(r *rules) {
				name := func(holder string) string { before, _, _ := strings.Cut(holder, ":"); return before }
				r.sameHolder = func(c *call, asks string) bool { return name(c.rec.holder) == name(asks) }
				r.show = func(c *call) lease.Lease {
					l := show(c)
					l.Holder = name(l.Holder)
					return l
				}
			}),
		},
		lookAlike("holder-cut-at-255", "Holders are compared in a column of 255 bytes, which cuts what is longer.",
			func(has, asks string) bool { return cut(has, 255) == cut(asks, 255) }),
	}
}

// lookAlike breaks EXCL-6 in Acquire alone: same takes two holders for one.
func lookAlike(name, fault string, same func(has, asks string) bool) Animal {
	return Animal{
		Name: name, Clause: "EXCL-6", Fault: fault,
		Source: "https://github.com/alibaba/nacos/issues/15543",
		Open: bred(func(r *rules) {
			r.sameHolder = func(c *call, asks string) bool { return same(c.rec.holder, asks) }
		}),
	}
}

// composed brings a few letters and accents into Unicode normal form C.
func composed(s string) string {
	return strings.NewReplacer(
		"a\u0301", "\u00e1", "a\u0308", "\u00e4", "A\u030a", "\u00c5", "a\u030a", "\u00e5", "c\u0327", "\u00e7",
		"e\u0300", "\u00e8", "e\u0301", "\u00e9", "E\u0301", "\u00c9", "e\u0302", "\u00ea", "i\u0301", "\u00ed",
		"n\u0303", "\u00f1", "o\u0301", "\u00f3", "o\u0308", "\u00f6", "O\u0308", "\u00d6", "u\u0308", "\u00fc",
	).Replace(s)
}

func cut(s string, n int) string { return s[:min(len(s), n)] }
