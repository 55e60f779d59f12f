package llm

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Patient is a Model that is not waited for after a time, and then not asked any more: its error is ErrUnavailable.
type Patient struct {
	Model
	Until  time.Time   // zero: it is always waited for
	Always func() bool // reports whether it is waited for after that time, too; nil: never

	givenUp atomic.Bool
}

var errPatience = errors.New("it has not answered in the time that there was for it")

// Generate implements Model.
func (p *Patient) Generate(ctx context.Context, req Request) (Response, error) {
	if p.givenUp.Load() {
		return Response{}, fmt.Errorf("%w: %w", errPatience, ErrUnavailable)
	}
	if p.Until.IsZero() || p.Always != nil && p.Always() {
		return p.Model.Generate(ctx, req)
	}
	askCtx, cancel := context.WithDeadlineCause(ctx, p.Until, errPatience)
	defer cancel()
	resp, err := p.Model.Generate(askCtx, req)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(askCtx), errPatience) {
		p.givenUp.Store(true)
		if !errors.Is(err, ErrUnavailable) { // otherwise err has more detail
			err = fmt.Errorf("%w: %w", errPatience, ErrUnavailable)
		}
	}
	return resp, err
}
