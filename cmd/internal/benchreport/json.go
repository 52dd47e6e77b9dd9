package benchreport

import (
	"encoding/json"
	"io"
)

// WriteJSON writes the report for machines: one object, whose form [Schema] names.
// Times are in ns.
func WriteJSON(w io.Writer, r *Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
