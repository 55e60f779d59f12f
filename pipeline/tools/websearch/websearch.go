// Package websearch queries web search engines: SearXNG, Tavily, Brave, Serper, Exa.
//
// Each provider has one file, which builds its requests and parses its answers. The shared parts are implemented once:
// pace, limits, error classes, and the cleaning of addresses, dates and texts. The package is independent of models;
// the tool web_search presents its results.
//
// Start with New and Provider.Search. A Chain uses several providers, with fallback from one to the next.
package websearch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/loosejson"
	"nightdesk/topicqueue"
)

// MaxBody is the maximum size of an answer, in bytes. Ten results with page texts need a tenth of it.
const MaxBody = 4 << 20

// MaxQuery is the maximum length of a query in characters, and maxQueryWords in words. Brave and Tavily refuse longer
// queries; the others find nothing.
const (
	MaxQuery      = 400
	maxQueryWords = 50
)

// Settings configures one provider.
type Settings struct {
	Name    string        // one of Names
	BaseURL string        // absolute, http or https; empty: the provider's own; required for SearXNG
	Key     string        // if empty, no key is set
	Every   time.Duration // minimum time between requests of all workers; 0: limit of the smallest plan
	Outside fetch.Doer    // must reach BaseURL
	Pace    fetch.Pace
}

// service holds the specifics of a provider.
type service struct {
	name  string
	base  string        // default address; empty if every instance has its own
	every time.Duration // minimum time between requests in the smallest plan
	most  int           // maximum number of results to request; 0: cannot be set
	// request returns the request for n results, 1 to most. base has no trailing slash.
	request func(base, key, query string, n int) fetch.Request
	// decode reads an answer. The error means that the answer is not in the provider's format.
	decode func(r loosejson.Value) (answer, error)
	// reach returns a request without a search. An answer, even with status 400, means that a search would be answered.
	// If nil, only a search can find out.
	reach func(base string) fetch.Request
	// operator says how the operator can resolve a refusal, or "" if it is temporary.
	operator func(e *fetch.StatusError) string
}

// services are all providers, in their default order.
var services = []service{searxng, tavily, brave, serper, exa}

// answer is the result of a search as the provider gives it.
type answer struct {
	hits        []hit // best first
	suggestions []string
	silent      []string // search engines behind the provider that did not answer, with reasons
}

// hit is one result as the provider gives it: HTML or text, dates in any form, addresses of any kind.
type hit struct{ title, url, date, publisher, text string }

// Names returns the names of all providers, in their default order.
func Names() []string {
	names := make([]string, len(services))
	for i, s := range services {
		names[i] = s.name
	}
	return names
}

// Found is the result of a search.
type Found struct {
	Provider string
	// Sources are best first, each address once: kind web, with Title and URL, and Date and Publisher if the provider
	// gives them. Text is plain text: an excerpt or, from some providers, the page. It is empty if the provider gives
	// none.
	Sources     []topicqueue.Source
	Others      []topicqueue.Source // results beyond the n best, without Text
	Suggestions []string            // other queries that the provider suggests; corrections first
}

// Provider is one search engine. Safe for concurrent use.
type Provider struct {
	service
	settings Settings
}

// New returns the provider of this name. The error says which setting is missing; it contains no key.
func New(s Settings) (*Provider, error) {
	for _, known := range services {
		if known.name != s.Name {
			continue
		}
		s.BaseURL = strings.TrimRight(cmp.Or(s.BaseURL, known.base), "/")
		if s.BaseURL == "" {
			return nil, fmt.Errorf("%s has no default address: set one", s.Name)
		}
		s.Every = cmp.Or(s.Every, known.every)
		return &Provider{known, s}, nil
	}
	return nil, fmt.Errorf("%q is not a search provider: use %s", s.Name, strings.Join(Names(), ", "))
}

// Name returns the provider's name.
func (p *Provider) Name() string { return p.name }

// Search returns the n best results. query: natural language, cut to MaxQuery. It first waits for the provider's turn.
// An empty result is not an error.
//
// The error is an *Error, or context.Cause(ctx) if ctx has ended.
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
	r.Header.Set("Accept", "application/json") // not Request.Accept: responses that are not JSON are classified below
	response, err := p.settings.Outside.Do(ctx, r)
	if ctx.Err() != nil {
		return Found{}, context.Cause(ctx)
	}
	if err != nil {
		err := p.failure(err)
		p.slow(ctx, err)
		return Found{}, err
	}
	var a answer
	read, err := loosejson.Parse(response.Body)
	if err == nil {
		a, err = p.decode(read)
	}
	if err != nil {
		return Found{}, &Error{Provider: p.name, Class: Malformed, Err: err}
	}
	found := Found{Provider: p.name, Suggestions: proposals(a.suggestions, query)}
	found.Sources, found.Others = sources(a.hits, n, time.Now())
	if len(found.Sources) == 0 && len(a.silent) > 0 { // the silent engines might have found something
		return Found{}, &Error{Provider: p.name, Class: Unavailable,
			Err: fmt.Errorf("some of its search engines did not answer, and the others found nothing: %s",
				short(strings.Join(a.silent, ", ")))}
	}
	return found, nil
}

// slow reduces the request rate of all workers after the provider reports too many requests, if the pace supports it.
func (p *Provider) slow(ctx context.Context, err error) {
	pace, can := p.settings.Pace.(interface {
		Slow(ctx context.Context, key string, every time.Duration) error
	})
	var e *Error
	if can && errors.As(err, &e) && e.Class == Busy {
		if err := pace.Slow(ctx, "search:"+p.name, p.settings.Every); err != nil {
			zerolog.Ctx(ctx).Warn().Err(err).Str("provider", p.name).Msg("rate limit not reduced")
		}
	}
}

// Reach reports whether the provider can be queried, without a search and without cost. known is false if only a search
// can find out. The error is as in Search.
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

// post returns a request with a JSON body. name: the header with the key. v: values that can always be encoded.
func post(address, name, key string, v map[string]any) fetch.Request {
	body, _ := json.Marshal(v)
	return fetch.Request{Method: http.MethodPost, URL: address, Body: body,
		Header: http.Header{name: {key}, "Content-Type": {"application/json"}}}
}

// clipQuery returns a query on one line, cut to a length that every provider accepts.
func clipQuery(query string) string {
	words := strings.Fields(strings.ToValidUTF8(query, " "))
	runes := []rune(strings.Join(words[:min(len(words), maxQueryWords)], " "))
	return strings.TrimSpace(string(runes[:min(len(runes), MaxQuery)]))
}
