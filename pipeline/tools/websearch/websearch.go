// Package websearch asks search engines of the web: SearXNG, Tavily, Brave, Serper, Exa.
//
// A provider is what one file here says of it: how it is asked and what its answer means. What they have in common is
// done once: pace, limits, errors by class, clean addresses, dates and texts. It knows nothing of models; the tool
// web_search puts what was found into words.
//
// Start with New and Provider.Search; several providers, of which one stands in for another, are a Chain.
package websearch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"nightdesk/pipeline/tools/fetch"
	"nightdesk/topicqueue"
)

// MaxBody bounds the answer of a provider, in bytes: ten results with page texts are a tenth of it.
const MaxBody = 4 << 20

// MaxQuery bounds a query, in characters and in words: more is refused by Brave and Tavily, and finds nothing with the
// others.
const (
	MaxQuery      = 400
	maxQueryWords = 50
)

// Fetcher is the way to the outside; *fetch.Client is one.
type Fetcher interface {
	Do(ctx context.Context, r fetch.Request) (fetch.Response, error)
}

var _ Fetcher = (*fetch.Client)(nil)

// Settings of one provider.
type Settings struct {
	Name    string        // one of Names
	BaseURL string        // absolute, http or https; empty: the provider's own, which SearXNG has not
	Key     string        // empty: none is sent
	Every   time.Duration // least time between two requests of all workers; 0: what the provider's smallest plan allows
	Outside Fetcher       // must reach BaseURL
	Pace    fetch.Pace
}

// service is what one provider differs in from the others.
type service struct {
	name  string
	base  string        // its own address; empty: every instance has another
	every time.Duration // least time between requests that its smallest plan allows
	most  int           // results that can be asked for; 0: no number can
	// request makes the request for n results, 1 to most. base has no slash at its end.
	request func(base, key, query string, n int) fetch.Request
	// decode reads the answer. An error means that it is not an answer in the provider's format.
	decode func(body []byte) (answer, error)
	// reach makes a request that asks for nothing: an answer, and one with status 400, say that a search would be
	// answered. nil: only a search would tell.
	reach func(base string) fetch.Request
	// operator says what the operator has to do about a refusal; empty: nothing, it will pass.
	operator func(e *fetch.StatusError) string
}

// services are all providers, in the order in which they are asked unless told otherwise.
var services = []service{searxng, tavily, brave, serper, exa}

// answer is what a provider found, as it says it.
type answer struct {
	hits        []hit // best first
	suggestions []string
	silent      []string // search engines behind the provider that did not answer, with the reason
}

// hit is one result, as the provider gives it: HTML or text, dates in whatever form, addresses of any kind.
type hit struct{ title, url, date, publisher, text string }

// Names returns the names of all providers, in the order in which they are asked unless told otherwise.
func Names() []string {
	names := make([]string, len(services))
	for i, s := range services {
		names[i] = s.name
	}
	return names
}

// Found is what a search found.
type Found struct {
	Provider string
	// Sources are best first, each address once: kind web, with Title and URL, Date and Publisher where the provider
	// gives them. Text is plain text: an excerpt or, from some providers, the page; empty where the provider gives
	// none.
	Sources     []topicqueue.Source
	Others      []topicqueue.Source // results beyond the n best, without Text
	Suggestions []string            // other queries that the provider proposes; corrections first
}

// Provider is one search engine. Safe for concurrent use.
type Provider struct {
	service
	settings Settings
}

// New returns the provider of this name. The error says which setting is missing; it holds no key.
func New(s Settings) (*Provider, error) {
	for _, known := range services {
		if known.name != s.Name {
			continue
		}
		s.BaseURL = strings.TrimRight(cmp.Or(s.BaseURL, known.base), "/")
		if s.BaseURL == "" {
			return nil, fmt.Errorf("%s has no standard address: give one", s.Name)
		}
		s.Every = cmp.Or(s.Every, known.every)
		return &Provider{known, s}, nil
	}
	return nil, fmt.Errorf("%q is not a search provider: use %s", s.Name, strings.Join(Names(), ", "))
}

// Name returns the provider's name.
func (p *Provider) Name() string { return p.name }

// Search asks for the n best results. query: natural language, cut to what providers take. It waits for the provider's
// turn first. Finding nothing is no error.
//
// The error is an *Error, or context.Cause(ctx) when ctx has ended.
func (p *Provider) Search(ctx context.Context, query string, n int) (Found, error) {
	if err := p.settings.Pace.Wait(ctx, "search:"+p.name, p.settings.Every); err != nil {
		if ctx.Err() != nil && !errors.Is(err, context.DeadlineExceeded) {
			return Found{}, context.Cause(ctx)
		}
		return Found{}, &Error{Provider: p.name, Class: Busy, Err: err}
	}
	if n < 1 {
		n = 1
	}
	ask := n
	if p.most > 0 {
		ask = min(n, p.most)
	}
	r := p.request(p.settings.BaseURL, p.settings.Key, clipQuery(query), ask)
	r.MaxBytes = MaxBody
	r.Header.Set("Accept", "application/json") // not Request.Accept: what is no JSON is told apart below
	response, err := p.settings.Outside.Do(ctx, r)
	if ctx.Err() != nil {
		return Found{}, context.Cause(ctx)
	}
	if err != nil {
		err := p.failure(err)
		p.slow(ctx, err)
		return Found{}, err
	}
	a, err := p.decode(response.Body)
	if err != nil {
		return Found{}, &Error{Provider: p.name, Class: Malformed, Err: err}
	}
	found := Found{Provider: p.name, Suggestions: proposals(a.suggestions, query)}
	found.Sources, found.Others = sources(a.hits, n, time.Now())
	if len(found.Sources) == 0 && len(a.silent) > 0 { // nobody knows what the silent ones would have found
		return Found{}, &Error{Provider: p.name, Class: Unavailable,
			Err: fmt.Errorf("some of its search engines do not answer, the others found nothing: %s",
				short(strings.Join(a.silent, ", ")))}
	}
	return found, nil
}

// slow has all workers ask less often when the provider was asked too often, where the pace can.
func (p *Provider) slow(ctx context.Context, err error) {
	pace, can := p.settings.Pace.(interface {
		Slow(ctx context.Context, key string, every time.Duration) error
	})
	var e *Error
	if can && errors.As(err, &e) && e.Class == Busy {
		if err := pace.Slow(ctx, "search:"+p.name, p.settings.Every); err != nil {
			zerolog.Ctx(ctx).Warn().Err(err).Str("provider", p.name).Msg("web search goes on at the same rate")
		}
	}
}

// Reach finds out whether the provider can be asked, without a search: none is made, nothing is to be paid. known is
// false when only a search would tell. The error is as that of Search.
func (p *Provider) Reach(ctx context.Context) (known bool, err error) {
	if p.reach == nil {
		return false, nil
	}
	_, err = p.settings.Outside.Do(ctx, p.reach(p.settings.BaseURL))
	if ctx.Err() != nil {
		return true, context.Cause(ctx)
	}
	var status *fetch.StatusError
	if err == nil || errors.As(err, &status) && status.Status == http.StatusBadRequest {
		return true, nil
	}
	return true, p.failure(err)
}

// clipQuery makes one line of a query that every provider takes.
func clipQuery(query string) string {
	words := strings.Fields(strings.ToValidUTF8(query, " "))
	runes := []rune(strings.Join(words[:min(len(words), maxQueryWords)], " "))
	return strings.TrimSpace(string(runes[:min(len(runes), MaxQuery)]))
}
