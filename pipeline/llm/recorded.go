package llm

import (
	"context"
	"time"

	"nightdesk/topicqueue"
)

// Recorded wraps a Model so that record receives the usage of every call exactly once: answers, second questions and
// failures (Failed set). A call's retries are one record. record runs before Generate returns, with a context that
// does not end, so that the last call of an interrupted run is recorded too. record must therefore limit its own
// time, and be safe for concurrent use.
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
	resp.Usage = accounted(req, resp.Usage, start, err)
	r.record(context.WithoutCancel(ctx), resp.Usage)
	return resp, err
}

// accounted completes the usage of a call that began at start, for a model that does not fill it in.
func accounted(req Request, u topicqueue.Usage, start time.Time, err error) topicqueue.Usage {
	if u.Timestamp.IsZero() {
		tokens := u
		u = usageFor(req, start)
		u.Model = tokens.Model
		u.AddTokens(tokens)
		u.TookMS = time.Since(start).Milliseconds()
	}
	u.Failed = err != nil
	return u
}
