package reporting

import (
	"context"

	"github.com/rs/zerolog"

	"nightdesk/pipeline/citation"
)

// verify runs the verification that external reports get, without sanitizing: the model's text is already resolved, and
// quotes stay verbatim. If the verifier fails, the report is unchanged and unverified.
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
