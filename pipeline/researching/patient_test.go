package researching_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"nightdesk/pipeline/llm"
)

// hanging never answers from a given iteration on.
type hanging struct {
	llm.Model
	from int
}

func (h hanging) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	if req.Position.Iteration >= h.from {
		<-ctx.Done()
		return llm.Response{}, context.Cause(ctx)
	}
	return h.Model.Generate(ctx, req)
}

// TestPatience: a block without evidence continues without a hanging model while there is time for that. A block with
// evidence waits as long as allowed.
func TestPatience(t *testing.T) {
	t.Parallel()
	const patience, limit = time.Minute, 3 * time.Minute
	errLimit := errors.New("its time is over")
	for name, tc := range map[string]struct {
		from int
		err  error
		took time.Duration
	}{
		"nothing yet": {1, nil, patience},
		"claims":      {2, errLimit, limit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.run.Options.MaxIterations = 2
				start := time.Now()
				b.r.Model, b.r.Patience = hanging{b, tc.from}, start.Add(patience)
				ctx, cancel := context.WithTimeoutCause(t.Context(), limit, errLimit)
				defer cancel()
				res, err := b.researchWith(ctx)
				if !errorsIs(err, tc.err) || res.Claims == 0 || time.Since(start) != tc.took {
					t.Errorf("%+v, %v after %s", res, err, time.Since(start))
				}
				if (tc.err == nil) != (len(res.Fallbacks) > 0) {
					t.Errorf("fallbacks %q", res.Fallbacks)
				}
			})
		})
	}
}
