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
	switch failed := r.Totals[leasetest.Fail]; {
	case failed > 0 && r.Failed():
		badge.Message, badge.Color, badge.IsError = fmt.Sprintf("%d broken, %d kept", failed, r.Totals[leasetest.Pass]), "red", true
	case r.Failed():
		badge.Message, badge.Color, badge.IsError = "inconclusive", "lightgrey", true
	case r.Totals[leasetest.Deviation] > 0:
		badge.Message += fmt.Sprintf(", %d deviations", r.Totals[leasetest.Deviation])
		badge.Color = "yellowgreen"
	}
	return json.NewEncoder(w).Encode(badge)
}
