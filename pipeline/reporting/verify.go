package reporting

import (
	"context"

	"github.com/rs/zerolog"

	"nightdesk/pipeline/citation"
)

// verify sends a finished report through the verification that reports from elsewhere get, without its sanitising:
// what a model wrote was resolved before, and quotes stay verbatim. A defect of the verifier loses nothing: the
// report stays as it is, unverified.
func (r *Reporter) verify(ctx context.Context, registry *citation.Registry, report *Report) {
	verify := r.Verify
	if verify == nil {
		verify = func(registry *citation.Registry, markdown string) citation.Verification {
			return registry.Verify(markdown, citation.VerifyOptions{})
		}
	}
	v, err := citation.Guarded(report.Markdown, func() citation.Verification { return verify(registry, report.Markdown) })
	if err != nil {
		zerolog.Ctx(ctx).Error().Err(err).Msg("report not verified")
	}
	report.Verification.Valid, report.Verification.Removed = v.Valid, v.Removed
	if v.Status != citation.StatusVerified {
		report.Verification.Status, report.Verification.Reason = v.Status, v.Reason
	}
	report.Markdown = v.Report
	report.Verification.Tail = tailOf(report.Markdown)
}
