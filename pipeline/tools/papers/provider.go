package papers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"nightdesk/pipeline/tools/fetch"
)

// Further errors of an answer.
var (
	// ErrFormat means HTML, a truncated answer, or another service.
	ErrFormat = errors.New("response is not in the documented format")
	ErrQuery  = errors.New("query not understood")
	// ErrTurn means that too many requests are waiting, or that the provider is paused.
	ErrTurn = errors.New("rate limit: no request slot before the timeout")
)

// maxAnswer is the maximum size of an answer in bytes, enough for 25 papers with thousands of authors.
const maxAnswer = 16 << 20

// unsaidRest is the pause after a 429 response without Retry-After.
const unsaidRest = time.Minute

// service holds the specifics of a provider.
type service struct {
	every   time.Duration // time between requests of all workers
	atOnce  int           // parallel requests of this process
	accept  []string      // media types
	request func(q Query) (address string, query url.Values, header http.Header)
	decode  func(body []byte) ([]Paper, error)
	// twice means that an empty answer may be wrong, so the request is repeated once.
	twice bool
	// single means that the service accepts one connection. Requests are spaced by the duration of the last one, so
	// that requests of two workers overlap only while answers become slower.
	single bool
}

// provider queries one service within its rate limit.
type provider struct {
	service
	name    string
	outside fetch.Doer
	pace    fetch.Pace
	places  chan struct{} // semaphore of requests
	between atomic.Int64  // current time between requests, in nanoseconds
}

func newProvider(name string, s service, settings Settings) *provider {
	p := &provider{service: s, name: name, outside: settings.Outside, pace: settings.Pace,
		places: make(chan struct{}, s.atOnce)}
	p.between.Store(int64(s.every))
	return p
}

// PaceKey returns the key of a provider's turns in Settings.Pace.
func PaceKey(name string) string { return "papers:" + name }

// ask makes one request, or two if the first answer is empty and may be wrong.
func (p *provider) ask(ctx context.Context, q Query) ([]Paper, error) {
	select {
	case p.places <- struct{}{}:
		defer func() { <-p.places }()
	case <-ctx.Done():
		return nil, fmt.Errorf("ask %s: %w: %w", Label(p.name), ErrTurn, context.Cause(ctx))
	}
	papers, err := p.once(ctx, q)
	if err == nil && len(papers) == 0 && p.twice {
		papers, err = p.once(ctx, q)
	}
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", Label(p.name), err)
	}
	return papers[:min(len(papers), q.Limit)], nil
}

// once waits for its turn and makes one request.
func (p *provider) once(ctx context.Context, q Query) ([]Paper, error) {
	if err := p.pace.Wait(ctx, PaceKey(p.name), time.Duration(p.between.Load())); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w: %w", ErrTurn, err)
		}
		return nil, err
	}
	address, query, header := p.request(q)
	start := time.Now()
	response, err := p.outside.Do(ctx, fetch.Request{URL: address + "?" + query.Encode(), Header: header, Accept: p.accept,
		MaxBytes: maxAnswer})
	if p.single {
		p.between.Store(int64(max(p.every, time.Since(start))))
	}
	if err != nil {
		p.leaveAlone(ctx, err)
		return nil, err
	}
	found, err := p.decode(response.Body)
	if err != nil {
		return nil, err
	}
	papers := make([]Paper, 0, len(found))
	for _, paper := range found {
		if paper = paper.normal(); paper.Title != "" {
			papers = append(papers, paper)
		}
	}
	return papers, nil
}

// leaveAlone pauses a provider for all workers after a 429 or 503 response. It takes one more turn, which delays the
// next turn by the requested time. Callers without enough time fail immediately.
func (p *provider) leaveAlone(ctx context.Context, err error) {
	var status *fetch.StatusError
	if !errors.As(err, &status) {
		return
	}
	rest := status.RetryAfter
	if rest == 0 && status.Status == http.StatusTooManyRequests {
		rest = unsaidRest
	}
	if rest > 0 && (status.Status == http.StatusTooManyRequests || status.Status == http.StatusServiceUnavailable) {
		_ = p.pace.Wait(ctx, PaceKey(p.name), max(rest, p.every)) // without a turn no other worker can have one
	}
}
