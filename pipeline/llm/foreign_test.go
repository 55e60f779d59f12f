package llm_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/llm/wire"
	"nightdesk/topicqueue"
)

// foreign are answers that follow no protocol.
var foreign = []struct {
	name     string
	status   int
	location string
	body     string
	odd      bool   // JSON: it may be about this question alone
	says     string // before "not with ..."
}{
	{name: "a login page", body: "\n<!DOCTYPE html><html><title> Hotel\nWi-Fi &amp; Spa</title>",
		says: `an HTML page "Hotel Wi-Fi & Spa", `},
	{name: "a page without a title", body: "<html>", says: "an HTML page, "},
	{name: "nothing", says: "an empty body, "},
	{name: "another status", status: http.StatusNoContent, says: "status 204, "},
	{name: "null", body: "null", says: `"null", `},
	{name: "text", body: "Please log in. " + testKey, says: `"Please log in. [redacted]", `},
	{name: "a list", body: "[]", says: `"[]", `},
	{name: "an empty object", body: "{}", odd: true, says: "JSON without "},
	{name: "no choices", body: `{"choices":[]}`, odd: true, says: "JSON without "},
	{name: "no data", body: `{"data":[]}`, odd: true, says: "JSON without "},
	{name: "a redirect", status: http.StatusFound, location: "http://login.hotel.test/?back=x",
		says: "a redirect to login.hotel.test, "},
	{name: "a redirect within the host", status: http.StatusFound, location: "/login?back=x",
		says: `a redirect to its page "/login", `},
	{name: "half an object", body: `{"choices":[{"message":{"content":"It ra`, odd: true, says: ""},
	{name: "another language", body: `{choices: 1}`, odd: true, says: "broken JSON ("},
}

// portal serves a foreign answer until it is told to stop.
type portal struct {
	http.Handler
	status         int
	location, body string
	requests, most int // then Handler answers
}

func (p *portal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.requests++; p.requests > p.most {
		p.Handler.ServeHTTP(w, r)
		return
	}
	if p.location != "" {
		w.Header().Set("Location", p.location)
	}
	w.WriteHeader(max(p.status, http.StatusOK))
	_, _ = io.WriteString(w, p.body)
}

// TestForeignAnswersAreAnOutage: an answer that follows no protocol is not from the model server. The governor records
// an outage, patient calls wait until the server is back, and no try is used up.
func TestForeignAnswersAreAnOutage(t *testing.T) {
	t.Parallel()
	forProviders(t, func(t *testing.T, p llm.Provider, _ func(*llm.RoleSettings)) {
		for _, tc := range foreign {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				outage(t, tc.odd, func(t *testing.T, d *desk) *portal {
					at := &portal{Handler: always("It rains."), status: tc.status, location: tc.location, body: tc.body, most: 1}
					client := governedBy(t, p, at, d)
					if resp, err := client.Generate(t.Context(), free()); err != nil || resp.Text != "It rains." {
						t.Errorf("%+v, %v", resp, err)
					}
					return at
				})
				synctest.Test(t, func(t *testing.T) {
					at := &portal{status: tc.status, location: tc.location, body: tc.body, most: 100}
					_, err := governedBy(t, p, at, &desk{}).Generate(t.Context(), free())
					if !errors.Is(err, llm.ErrUnavailable) || at.requests != 2 || strings.Contains(err.Error(), testKey) ||
						!errors.As(err, new(*wire.Foreign)) || !strings.Contains(err.Error(), tc.says) {
						t.Errorf("%d requests: %v", at.requests, err)
					}
				})
			})
		}
	})
}

func TestEmbed_ForeignAnswersAreAnOutage(t *testing.T) {
	t.Parallel()
	for _, tc := range foreign {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			outage(t, tc.odd, func(t *testing.T, d *desk) *portal {
				at := &portal{Handler: &llmtest.Embeddings{}, status: tc.status, location: tc.location, body: tc.body, most: 1}
				e := embedderInMemory(t, at, func(s *llm.EmbedderSettings) { s.Governor, s.MaxTries = d, 2 })
				if got, err := e.Embed(t.Context(), []string{"one", "two"}); err != nil || len(got) != 2 {
					t.Errorf("%d vectors, %v", len(got), err)
				}
				return at
			})
			synctest.Test(t, func(t *testing.T) {
				at := &portal{status: tc.status, location: tc.location, body: tc.body, most: 100}
				e := embedderInMemory(t, at, func(s *llm.EmbedderSettings) { s.MaxTries = 2 })
				_, err := e.Embed(t.Context(), []string{"one"})
				if !errors.Is(err, llm.ErrUnavailable) || !strings.Contains(err.Error(), tc.says+"not with embeddings") &&
					!tc.odd || strings.Contains(err.Error(), testKey) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// outage makes a call to a server that goes down after one answer and is up a minute later.
func outage(t *testing.T, odd bool, call func(t *testing.T, d *desk) *portal) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{up: make(chan struct{})}
		start := time.Now()
		time.AfterFunc(time.Minute, func() { close(d.up) })
		at := call(t, d)
		want := topicqueue.CallUnavailable
		if odd {
			want = topicqueue.CallFailed
		}
		if got := d.outcomes(); len(got) != 2 || got[0] != want || got[1] != topicqueue.CallAnswered {
			t.Errorf("outcomes %v, want %s first", got, want)
		}
		if at.requests != 2 || time.Since(start) < time.Minute {
			t.Errorf("%d requests in %s", at.requests, time.Since(start))
		}
	})
}

// TestRedirectWithinAHost: a server that redirects to itself has another base URL, which the error names.
func TestRedirectWithinAHost(t *testing.T) {
	t.Parallel()
	at := &portal{status: http.StatusMovedPermanently, location: "https://model.test/v1/chat/completions", most: 100}
	_, err := governedBy(t, llm.ProviderOpenAI, at, &desk{}).Generate(t.Context(), free())
	if !errors.Is(err, llm.ErrPermanent) || !strings.Contains(err.Error(), "redirects") {
		t.Error(err)
	}
}

// TestReachForeign: the check also reports answers that are not from a model server.
func TestReachForeign(t *testing.T) {
	t.Parallel()
	forProviders(t, func(t *testing.T, _ llm.Provider, with func(*llm.RoleSettings)) {
		for _, tc := range foreign {
			if tc.odd { // an object is what an answer about models is
				continue
			}
			at := &portal{status: tc.status, location: tc.location, body: tc.body, most: 1}
			_, err := inMemory(t, at, with).Reach(t.Context(), llm.Researcher)
			if !errors.Is(err, llm.ErrUnavailable) || !strings.Contains(err.Error(), "model.test answered with "+tc.says) {
				t.Errorf("%s: %v", tc.name, err)
			}
		}
	})
}
