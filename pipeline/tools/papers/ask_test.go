package papers_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/papers"
)

// desk is a search with test servers as providers.
type desk struct {
	*papers.Search
	mu    sync.Mutex
	asked map[string][]*http.Request // by provider
	pace  *turns
	// answer replaces the fixture of a provider.
	answer func(name string, w http.ResponseWriter, r *http.Request) bool
}

// turns is a Pace that records its calls and does not wait. Calls for a closed key fail.
type turns struct {
	mu     sync.Mutex
	taken  map[string][]time.Duration
	closed map[string]bool
}

// Wait implements fetch.Pace.
func (p *turns) Wait(ctx context.Context, key string, every time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed[key] {
		return fmt.Errorf("the next turn of %s is in 5h: %w", key, context.DeadlineExceeded)
	}
	p.taken[key] = append(p.taken[key], every)
	p.closed[key] = every >= time.Minute
	return ctx.Err()
}

func (p *turns) of(name string) []time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.taken["papers:"+name])
}

// newDesk returns a search of all providers, with keys.
func newDesk(t *testing.T, change ...func(s *papers.Settings)) *desk {
	t.Helper()
	d := &desk{asked: map[string][]*http.Request{}, pace: &turns{taken: map[string][]time.Duration{}, closed: map[string]bool{}}}
	client := fetch.New(fetch.Settings{Allow: []string{"127.0.0.1"}, Timeout: 20 * time.Second})
	t.Cleanup(client.Close)
	s := papers.Settings{
		Providers: papers.Names(), OpenAlexKey: "openalex-key", SemanticScholarKey: "scholar-key",
		Outside: client, Pace: d.pace, Addresses: map[string]string{},
	}
	for _, name := range papers.Names() {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			d.mu.Lock()
			d.asked[name] = append(d.asked[name], r)
			answer := d.answer
			d.mu.Unlock()
			if answer != nil && answer(name, w, r) {
				return
			}
			serve(t, w, name, fixtures[name])
		}))
		t.Cleanup(server.Close)
		s.Addresses[name] = server.URL + "/search"
	}
	for _, c := range change {
		c(&s)
	}
	var err error
	if d.Search, err = papers.New(s); err != nil {
		t.Fatal(err)
	}
	return d
}

func serve(t testing.TB, w http.ResponseWriter, name, file string) {
	kind := "application/json;charset=UTF-8"
	if name == papers.ArXiv {
		kind = "application/atom+xml; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(fixture(t, file))
}

func (d *desk) requests(name string) []*http.Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.asked[name])
}

// TestAsk: each provider is queried as documented.
func TestAsk(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	answers := d.Ask(t.Context(), papers.ParseQuery(`"tidal turbines" wake self-organised 2020..2024`, 10))
	var names []string
	for _, a := range answers {
		names = append(names, a.Provider)
		if a.Err != nil || len(a.Papers) < 2 || a.Took <= 0 {
			t.Errorf("%s: %d papers, %v", a.Provider, len(a.Papers), a.Err)
		}
	}
	if !slices.Equal(names, papers.Names()) {
		t.Errorf("answers of %v", names)
	}
	for name, want := range map[string]url.Values{
		papers.ArXiv: {
			"search_query": {`all:"tidal turbines" AND all:wake AND all:"self-organised" AND submittedDate:[202001010000 TO 202412312359]`},
			"start":        {"0"}, "max_results": {"10"}, "sortBy": {"relevance"}, "sortOrder": {"descending"},
		},
		papers.Crossref: {
			"query": {"tidal turbines wake self-organised"}, "rows": {"10"}, "filter": {"from-pub-date:2020,until-pub-date:2024"},
		},
		papers.EuropePMC: {
			"query":  {`"tidal turbines" wake self-organised AND (PUB_YEAR:[2020 TO 2024])`},
			"format": {"json"}, "resultType": {"core"}, "pageSize": {"10"},
		},
		papers.OpenAlex: {
			"search": {`"tidal turbines" wake self-organised`}, "per_page": {"10"}, "api_key": {"openalex-key"},
			"filter": {"from_publication_date:2020-01-01,to_publication_date:2024-12-31"},
		},
		papers.SemanticScholar: {"query": {"tidal turbines wake self organised"}, "limit": {"10"}, "year": {"2020-2024"}},
	} {
		requests := d.requests(name)
		if len(requests) != 1 {
			t.Errorf("%s: %d requests", name, len(requests))
			continue
		}
		got := requests[0].URL.Query()
		for key, value := range want {
			if !slices.Equal(got[key], value) {
				t.Errorf("%s: %s = %q, want %q", name, key, got[key], value)
			}
		}
		if key := requests[0].Header.Get("X-Api-Key"); (key == "scholar-key") != (name == papers.SemanticScholar) {
			t.Errorf("%s: key %q", name, key)
		}
	}
}

func TestAskWithoutKeys(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(s *papers.Settings) { s.OpenAlexKey, s.SemanticScholarKey = "", "" })
	for _, a := range d.Ask(t.Context(), papers.ParseQuery("tidal wake 2020..", 3)) {
		if a.Err != nil || len(a.Papers) > 3 {
			t.Errorf("%s: %d papers, %v", a.Provider, len(a.Papers), a.Err)
		}
		r := d.requests(a.Provider)[0]
		if q := r.URL.Query(); q.Has("api_key") || r.Header.Get("X-Api-Key") != "" {
			t.Errorf("%s: %s", a.Provider, r.URL)
		}
	}
	if q := d.requests(papers.SemanticScholar)[0].URL.Query(); q.Get("year") != "2020-" {
		t.Errorf("open range: %s", q)
	}
	if a, b := d.Every(papers.Crossref), d.Every(papers.SemanticScholar); a != time.Second || b != 3*time.Second {
		t.Errorf("without keys every %s, %s", a, b)
	}
}

// TestLimits: the rate limits of the providers.
func TestLimits(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for name, want := range map[string]time.Duration{
		papers.ArXiv: 3 * time.Second, papers.Crossref: time.Second, papers.EuropePMC: 500 * time.Millisecond,
		papers.OpenAlex: 200 * time.Millisecond, papers.SemanticScholar: 1100 * time.Millisecond,
	} {
		if got := d.Every(name); got != want {
			t.Errorf("%s: every %s, want %s", name, got, want)
		}
	}
}

// TestArXivSlowAnswers: arXiv accepts one connection, so requests are spaced by the duration of an answer.
func TestArXivSlowAnswers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Ask(t.Context(), papers.ParseQuery("tides", 5))
	if got := d.Every(papers.ArXiv); got != 3*time.Second {
		t.Errorf("after a quick answer every %s", got)
	}
	d.SetEvery(papers.ArXiv, time.Nanosecond) // any answer takes longer
	d.Ask(t.Context(), papers.ParseQuery("tides", 5))
	if got := d.Every(papers.ArXiv); got <= time.Nanosecond {
		t.Errorf("after a slow answer every %s", got)
	}
}

// TestArXivEmptyPage: an empty first page of arXiv may be wrong and is requested again, in a separate turn.
func TestArXivEmptyPage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name          string
		empty         int // answers that are
		papers, turns int
	}{{"never", 0, 3, 1}, {"once", 1, 3, 2}, {"always", 9, 0, 2}} {
		d := newDesk(t, func(s *papers.Settings) { s.Providers = []string{papers.ArXiv} })
		d.answer = func(name string, w http.ResponseWriter, _ *http.Request) bool {
			if len(d.asked[name]) > tc.empty {
				return false
			}
			serve(t, w, name, "arxiv_empty.xml")
			return true
		}
		a := d.Ask(t.Context(), papers.ParseQuery("tides", 5))[0]
		if a.Err != nil || len(a.Papers) != tc.papers || len(d.pace.of(papers.ArXiv)) != tc.turns || len(d.requests(papers.ArXiv)) != tc.turns {
			t.Errorf("%s: %d papers, %d turns, %d requests, %v", tc.name, len(a.Papers), len(d.pace.of(papers.ArXiv)), len(d.requests(papers.ArXiv)), a.Err)
		}
	}
}

// TestFailures: each kind of failure is distinguished for each provider, and does not affect other providers.
func TestFailures(t *testing.T) {
	t.Parallel()
	status := func(code int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if len(header) > 0 {
				w.Header().Set("Retry-After", header[0])
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			fmt.Fprintf(w, `{"error": "not with %s"}`, r.URL.RawQuery)
		}
	}
	is := func(code int) func(error) bool {
		return func(err error) bool {
			var e *fetch.StatusError
			return errors.As(err, &e) && e.Status == code
		}
	}
	refusedType := func(err error) bool {
		var e *fetch.RefusedError
		return errors.As(err, &e) && e.Reason == fetch.RefusedType
	}
	for _, tc := range []struct {
		name   string
		answer http.HandlerFunc
		want   func(error) bool
		rest   time.Duration
	}{
		{"401", status(401), is(401), 0},
		{"402", status(402), is(402), 0},
		{"403", status(403), is(403), 0},
		{"429 for hours", status(429, "18000"), is(429), 5 * time.Hour},
		{"429", status(429), is(429), time.Minute},
		{"500", status(500), is(500), 0},
		{"503 for a while", status(503, "90"), is(503), 90 * time.Second},
		{"HTML", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html><body>Maintenance</body></html>")
		}, refusedType, 0},
		{"HTML that claims to be data", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", strings.TrimSpace(strings.Split(r.Header.Get("Accept"), ",")[0]))
			fmt.Fprint(w, "<html><body>Maintenance</body></html>")
		}, func(err error) bool { return errors.Is(err, papers.ErrFormat) }, 0},
		{"truncated", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", strings.TrimSpace(strings.Split(r.Header.Get("Accept"), ",")[0]))
			w.Header().Set("Content-Length", "5000")
			fmt.Fprint(w, `{"results": [{"title": "A`)
		}, func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }, 0},
		{"half", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", strings.TrimSpace(strings.Split(r.Header.Get("Accept"), ",")[0]))
			fmt.Fprint(w, `{"results": [{"title": "A`)
		}, func(err error) bool { return errors.Is(err, papers.ErrFormat) }, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for _, broken := range papers.Names() {
				d := newDesk(t)
				d.answer = func(name string, w http.ResponseWriter, r *http.Request) bool {
					if name == broken {
						tc.answer(w, r)
					}
					return name == broken
				}
				for _, a := range d.Ask(t.Context(), papers.ParseQuery("tidal turbines", 5)) {
					switch {
					case a.Provider != broken && (a.Err != nil || len(a.Papers) == 0):
						t.Errorf("%s costs %s its answer: %v", broken, a.Provider, a.Err)
					case a.Provider == broken && (a.Err == nil || !tc.want(a.Err) || strings.Contains(a.Err.Error(), "-key") || strings.Contains(a.Err.Error(), "desk@")):
						t.Errorf("%s: %v", broken, a.Err)
					}
				}
				taken := d.pace.of(broken)
				if tc.rest == 0 && len(taken) != 1 || tc.rest > 0 && (len(taken) != 2 || taken[1] != tc.rest) {
					t.Errorf("%s: turns %v, want a rest of %s", broken, taken, tc.rest)
				}
				if tc.rest == 0 {
					continue
				}
				for _, a := range d.Ask(t.Context(), papers.ParseQuery("tidal turbines", 5)) { // left alone, the others asked again
					if (a.Provider == broken) != errors.Is(a.Err, papers.ErrTurn) {
						t.Errorf("%s after the refusal: %v", a.Provider, a.Err)
					}
				}
				if n := len(d.requests(broken)); n != 1 {
					t.Errorf("%s was asked %d times", broken, n)
				}
			}
		})
	}
}

// TestSlowProvider: a hanging provider only loses its own answer. The others are returned within three quarters of the
// call's time.
func TestSlowProvider(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.answer = func(name string, _ http.ResponseWriter, r *http.Request) bool {
		if name == papers.ArXiv {
			<-r.Context().Done()
		}
		return name == papers.ArXiv
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	answers := d.Ask(ctx, papers.ParseQuery("tidal turbines", 5))
	if ctx.Err() != nil {
		t.Error("nothing is left of the call's time")
	}
	for _, a := range answers {
		if slow := a.Provider == papers.ArXiv; slow != errors.Is(a.Err, context.DeadlineExceeded) || slow == (len(a.Papers) > 0) {
			t.Errorf("%s: %d papers, %v", a.Provider, len(a.Papers), a.Err)
		}
	}
	why := errors.New("the desk closes")
	cancelled, stop := context.WithCancelCause(t.Context())
	stop(why)
	for _, a := range d.Ask(cancelled, papers.ParseQuery("tidal turbines", 5)) {
		if a.Err == nil {
			t.Errorf("%s answered", a.Provider)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, names := range [][]string{nil, {"arxiv", "scholar.google"}} {
		if _, err := papers.New(papers.Settings{Providers: names}); err == nil {
			t.Errorf("%v is taken", names)
		}
	}
	d := newDesk(t, func(s *papers.Settings) { s.Providers = []string{papers.OpenAlex, papers.OpenAlex} })
	if a := d.Ask(t.Context(), papers.ParseQuery("tides", 5)); len(a) != 1 {
		t.Errorf("%d answers", len(a))
	}
	if papers.Label("europepmc") != "Europe PMC" || papers.Label("other") != "other" {
		t.Error("labels")
	}
}
