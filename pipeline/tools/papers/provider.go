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

// What else can be wrong with an answer.
var (
	ErrFormat = errors.New("the answer is not in the documented format") // HTML, a part of an answer, another service
	ErrQuery  = errors.New("the query is not understood")
	ErrTurn   = errors.New("there is no turn in time") // too many want to ask, or the provider is left alone for now
)

// maxAnswer bounds an answer in bytes: 25 papers with thousands of authors.
const maxAnswer = 16 << 20

// unsaidRest is how long a provider is left alone that answers 429 and does not say for how long.
const unsaidRest = time.Minute

// service is what is particular about a provider.
type service struct {
	every   time.Duration // between requests of all workers
	atOnce  int           // requests of this process
	accept  []string      // media types
	request func(q Query) (address string, query url.Values, header http.Header)
	decode  func(body []byte) ([]Paper, error)
	// allowed returns the time between requests that an answer's header grants; 0: it says nothing.
	allowed func(header http.Header) time.Duration
	// twice: an empty answer may be a false one, and is asked for once more.
	twice bool
	// single: the service wants one connection. Turns are as far apart as its last answer took, so that requests of two
	// workers overlap only while its answers become slower.
	single bool
}

// provider asks one service, in its turn.
type provider struct {
	service
	name    string
	outside Fetcher
	pace    fetch.Pace
	places  chan struct{} // whoever asks holds one
	between atomic.Int64  // nanoseconds: the time between requests as it is now
}

func newProvider(name string, s service, settings Settings) *provider {
	p := &provider{service: s, name: name, outside: settings.Outside, pace: settings.Pace,
		places: make(chan struct{}, s.atOnce)}
	p.between.Store(int64(s.every))
	return p
}

// PaceKey names a provider's turns among those of Settings.Pace.
func PaceKey(name string) string { return "papers:" + name }

// ask asks once, or twice when the first answer is empty and may be a false one.
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

// once waits for the turn and makes one request.
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
	if p.allowed != nil {
		if d := p.allowed(response.Header); d > 0 {
			p.between.Store(int64(d))
		}
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

// leaveAlone keeps all workers from a provider that has had enough, for as long as it asks for: it takes one more turn
// and puts the next one that far away. Whoever has no time for that is told at once.
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
		_ = p.pace.Wait(ctx, PaceKey(p.name), max(rest, p.every)) // without a turn there is nobody to keep away
	}
}
