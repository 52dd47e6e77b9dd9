package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/leasekit/lease/leasetest"
)

// Badge writes what the endpoint badge of shields.io reads:
// https://shields.io/badges/endpoint-badge.
func Badge(w io.Writer, r *leasetest.Report) error {
	badge := struct {
		SchemaVersion int    `json:"schemaVersion"`
		Label         string `json:"label"`
		Message       string `json:"message"`
		Color         string `json:"color"`
		IsError       bool   `json:"isError"`
	}{SchemaVersion: 1, Label: "lease contract", Message: fmt.Sprintf("%d clauses kept", r.Totals[leasetest.Pass]), Color: "brightgreen"}
	switch outcome, failed := OutcomeOf(r), r.Totals[leasetest.Fail]; {
	case outcome == NotConformant:
		badge.Message, badge.Color, badge.IsError = string(outcome), "red", true
		if failed > 0 {
			badge.Message = fmt.Sprintf("%d broken, %d kept", failed, r.Totals[leasetest.Pass])
		}
	case outcome != Conformant:
		badge.Message, badge.Color, badge.IsError = string(outcome), "lightgrey", true
	case r.Totals[leasetest.Deviation] > 0:
		badge.Message += fmt.Sprintf(", %d deviations", r.Totals[leasetest.Deviation])
		badge.Color = "yellowgreen"
	}
	return json.NewEncoder(w).Encode(badge)
}
