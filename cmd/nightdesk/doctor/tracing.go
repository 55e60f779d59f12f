package doctor

import (
	"context"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/jobs/tracing"
	"nightdesk/topicqueue"
)

// checkTracing checks whether the collector accepts traces.
func checkTracing(ctx context.Context, _ config.Config, _ *view.Console) []checkup {
	endpoint, err := tracing.Endpoint()
	if err == nil && endpoint == "" {
		return nil
	}
	if err == nil {
		err = tracing.Check(ctx)
	}
	if err != nil {
		return []checkup{{Name: "tracing", Result: "failed", Text: topicqueue.Clip(topicqueue.OneLine(err.Error()), 200),
			Hint: "Runs continue without traces. Correct OTEL_EXPORTER_OTLP_ENDPOINT, or set OTEL_SDK_DISABLED=true."}}
	}
	return []checkup{{Name: "tracing", Result: "ok", Text: "traces are sent to " + endpoint}}
}
