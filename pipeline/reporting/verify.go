package reporting

import (
	"context"
	"fmt"

	"github.com/rs/zerolog"

	"nightdesk/pipeline/citation"
)

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
			report.Verification.Status, report.Verification.Reason = citation.StatusUnverified, citation.ReasonPanicked
		}
	}()
	v := verify(registry, report.Markdown)
	report.Verification.Valid, report.Verification.Removed = v.Valid, v.Removed
	if v.Status != citation.StatusVerified {
		report.Verification.Status, report.Verification.Reason = v.Status, v.Reason
	}
	report.Markdown = v.Report
}
