package llm

import (
	"context"
	"time"

	"nightdesk/topicqueue"
)

// Patient wraps a Model so that calls wait for a server that is down only until the given time. After that they fail
// with ErrUnavailable, but still reach a server that works.
func Patient(m Model, until time.Time) Model { return patient{m, until} }

type patient struct {
	model Model
	until time.Time
}

func (p patient) Generate(ctx context.Context, req Request) (Response, error) {
	req.Until = p.until
	return p.model.Generate(ctx, req)
}

// Most implements Estimator.
func (p patient) Most(req Request) topicqueue.Usage { return Most(p.model, req) }
