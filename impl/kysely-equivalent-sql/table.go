package sqllease

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/leasekit/lease"
)

// maxNamespace is the greatest length of a namespace, in bytes. With the key it
// must fit into the primary key of every database.
const maxNamespace = lease.MaxName

// table is the name of a table. No schema means the session's.
type table struct{ schema, name string }

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

func parseTable(name string) (table, error) {
	var t table
	t.name = name
	if schema, rest, ok := strings.Cut(name, "."); ok {
		if !plainName.MatchString(schema) {
			return table{}, badTable(name)
		}
		t.schema, t.name = schema, rest
	}
	if !plainName.MatchString(t.name) {
		return table{}, badTable(name)
	}
	return t, nil
}

func badTable(name string) error {
	return fmt.Errorf("the table name %.80q is invalid: want a name or schema.name, each part 1 to 63 of the characters A-Z a-z 0-9 _ and not beginning with a digit; leave the quotes to this package", name)
}

// quoted is the table's name as SQL has it. No part contains a quote.
func (t table) quoted(quote string) string {
	if t.schema == "" {
		return quote + t.name + quote
	}
	return quote + t.schema + quote + "." + quote + t.name + quote
}

// String is the name as it stands in the options.
func (t table) String() string { return strings.TrimPrefix(t.schema+"."+t.name, ".") }
