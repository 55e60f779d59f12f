package llm

import (
	"context"
	"time"

	"nightdesk/topicqueue"
)

// Recorded wraps a Model so that record sees the usage of every call exactly once: answers, second questions and
// failures (Failed set). A call's retries are one record. record runs before Generate returns, with a context that
// does not end, so that the last call of an interrupted run is recorded too: it bounds itself, and is safe for concurrent
// use.
func Recorded(m Model, record func(ctx context.Context, u topicqueue.Usage)) Model {
	return recorded{m, record}
}

type recorded struct {
	model  Model
	record func(ctx context.Context, u topicqueue.Usage)
}

func (r recorded) Generate(ctx context.Context, req Request) (Response, error) {
	start := time.Now()
	resp, err := r.model.Generate(ctx, req)
	if resp.Usage.Timestamp.IsZero() { // a model that fills in no usage: at least say that there was a call
		tokens := resp.Usage
		resp.Usage = usageFor(req, start)
		resp.Usage.Model, resp.Usage.Estimated = tokens.Model, tokens.Estimated
		resp.Usage.PromptTokens, resp.Usage.CompletionTokens = tokens.PromptTokens, tokens.CompletionTokens
		resp.Usage.TookMS = time.Since(start).Milliseconds()
	}
	resp.Usage.Failed = err != nil
	r.record(context.WithoutCancel(ctx), resp.Usage)
	return resp, err
}
