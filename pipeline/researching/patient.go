package researching

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"nightdesk/pipeline/llm"
)

// patient is the model of a block with limited patience. If the block has no claims when Patience ends, it stops using
// the model. With claims, there is no limit.
type patient struct {
	model   llm.Model
	work    *work
	givenUp atomic.Bool
}

var errPatience = errors.New("it has not answered for most of the block's time")

// Generate implements llm.Model.
func (p *patient) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	if p.givenUp.Load() {
		return llm.Response{}, p.unavailable()
	}
	if p.work.Patience.IsZero() || p.work.claims > 0 {
		return p.model.Generate(ctx, req)
	}
	askCtx, cancel := context.WithDeadlineCause(ctx, p.work.Patience, errPatience)
	defer cancel()
	resp, err := p.model.Generate(askCtx, req)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(askCtx), errPatience) {
		p.givenUp.Store(true)
		if !errors.Is(err, llm.ErrUnavailable) { // otherwise err has more detail
			err = p.unavailable()
		}
	}
	return resp, err
}

func (p *patient) unavailable() error { return fmt.Errorf("%w: %w", errPatience, llm.ErrUnavailable) }
