package reporting

import (
	"context"
	"fmt"

	"github.com/rs/zerolog"

	"nightdesk/pipeline/citation"
)

// Verification says how the citations of a finished report were found to stand.
type Verification struct {
	Status  string             `json:"status"` // one of citation.Status...
	Reason  string             `json:"reason"`
	Valid   []citation.Valid   `json:"valid_citations"`
	Removed []citation.Removed `json:"removed_citations"` // entries of the references that led nowhere
}

// verify sends a finished report through the verification that reports from elsewhere get, without its sanitising: what a
// model wrote was resolved before, and quotes stay verbatim. A defect of the verifier loses nothing: the report stays as
// it is, unverified.
func (r *Reporter) verify(ctx context.Context, registry *citation.Registry, report *Report) {
	verify := r.Verify
	if verify == nil {
		verify = func(registry *citation.Registry, markdown string) citation.Verification {
			return registry.Verify(markdown, citation.VerifyOptions{})
		}
	}
	defer func() {
		if p := recover(); p != nil {
			zerolog.Ctx(ctx).Error().Str("err", fmt.Sprint(p)).Msg("report not verified")
			report.Verification = Verification{Status: citation.StatusUnverified, Reason: citation.ReasonPanicked, Valid: []citation.Valid{}, Removed: []citation.Removed{}}
		}
	}()
	v := verify(registry, report.Markdown)
	report.Verification = Verification{Status: v.Status, Reason: v.Reason, Valid: v.Valid, Removed: v.Removed}
	report.Markdown = v.Report
}
