package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"nightdesk/topicqueue"
)

// post sends a form as a browser does from a page of this site, or of another one.
func (d testDesk) post(path, site string, form url.Values, status int) string {
	d.t.Helper()
	r := httptest.NewRequestWithContext(d.t.Context(), http.MethodPost, "http://localhost"+path,
		strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", site)
	answer := httptest.NewRecorder()
	d.ServeHTTP(answer, r)
	if answer.Code != status {
		d.t.Errorf("%s %v: %d, not %d: %s", path, form, answer.Code, status, answer.Body)
	}
	return answer.Body.String()
}

// TestActions: runs are cancelled, paused, resumed and tried again from their page, from the list and from the digest,
// and only by who looks at these pages.
func TestActions(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	for _, id := range []string{"research_a", "research_b", "research_c"} {
		d.create("march", id, "Dunes of "+id, "")
	}
	state := func(id string) topicqueue.Run {
		run, err := d.queue.Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	d.has("/runs/research_a", `<form method="post" action="../act" class="act">`, `value="pause"`, `value="cancel"`)
	d.has("/batches/march?state=queued", `name="run" value="research_a"`,
		`name="back" value="/batches/march?state=queued"`)

	of := func(do string, runs ...string) url.Values {
		return url.Values{"do": {do}, "run": runs, "back": {"/batches/march?state=queued"}}
	}
	d.post("/act", "cross-site", of("cancel", "research_a"), http.StatusForbidden)
	d.post("/act", "same-origin", of("delete", "research_a"), http.StatusBadRequest)
	d.post("/act", "same-origin", of("cancel"), http.StatusBadRequest)
	d.get("/act", http.StatusMethodNotAllowed)
	if state("research_a").State.Final() || state("research_a").Paused {
		t.Error("a run was touched by what was refused")
	}

	body := d.post("/act", "same-origin", of("pause", "research_a", "research_b", "research_x"), http.StatusOK)
	for _, want := range []string{"2 runs", `<li><a href="./runs/research_x">`,
		`<a href="./batches/march?state=queued">Back</a>`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in %s", want, body)
		}
	}
	d.has("/runs/research_a", `name="do" value="resume"`)
	d.post("/act", "same-origin", of("resume", "research_a"), http.StatusOK)
	d.post("/act", "same-origin", of("cancel", "research_a", "research_c"), http.StatusOK)
	a, b, c := state("research_a"), state("research_b"), state("research_c")
	if c.State != topicqueue.RunCancelled || !b.Paused || a.Paused {
		t.Errorf("%s; paused: %v, %v", c.State, a.Paused, b.Paused)
	}
	if body := d.post("/act", "same-origin", of("cancel", "research_c"), http.StatusOK); !strings.Contains(body,
		`<li><a href="./runs/research_c">`) {
		t.Errorf("%s", body)
	}
	d.has("/runs/research_c", `name="do" value="retry"`)
	d.post("/act", "same-origin", of("retry", "research_c"), http.StatusOK)
	if s := state("research_c"); s.State.Final() {
		t.Errorf("tried again, and it is %s (%s)", s.State, s.Reason)
	}
	for _, back := range []string{"https://evil.example", "//evil.example", "/\\evil.example", "javascript:x"} {
		form := of("pause", "research_c")
		form.Set("back", back)
		if body := d.post("/act", "same-origin", form, http.StatusOK); strings.Contains(body, "evil") ||
			strings.Contains(body, "javascript") {
			t.Errorf("%s leads back to %s", back, body)
		}
	}
	d.post("/act", "same-origin", url.Values{"do": {strings.Repeat("x", 2<<20)}}, http.StatusBadRequest)
}

// TestOtherNames: without a token, a name that somebody gives this machine leads to nothing but its health.
func TestOtherNames(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	for host, status := range map[string]int{"localhost:8080": 200, "127.0.0.1": 200, "[::1]:8080": 200, "LocalHost": 200,
		"evil.example": 403, "127.0.0.1.evil.example:8080": 403, "": 403} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/batches", nil)
		r.Host = host
		answer := httptest.NewRecorder()
		d.ServeHTTP(answer, r)
		if answer.Code != status {
			t.Errorf("%q: %d, not %d", host, answer.Code, status)
		}
	}
}
