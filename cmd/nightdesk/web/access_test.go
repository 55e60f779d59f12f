package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/hibiken/asynq"
)

// TestReadToken: who has it sees everything, and changes nothing but who is logged in.
func TestReadToken(t *testing.T) {
	t.Parallel()
	const token = "a long random text"
	d := newDesk(t, token)
	ask := func(method, path, form, bearer, cookie string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(form))
		if form != "" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		if bearer != "" {
			r.Header.Set("Authorization", "Bearer "+bearer)
		}
		if cookie != "" {
			r.Header.Set("Cookie", cookie)
		}
		answer := httptest.NewRecorder()
		d.ServeHTTP(answer, r)
		return answer
	}
	login := func(token string) (cookie string) {
		t.Helper()
		answer := ask("POST", "/login", "token="+url.QueryEscape(token), "", "")
		cookie, _, _ = strings.Cut(answer.Header().Get("Set-Cookie"), ";")
		if answer.Code != http.StatusSeeOther || cookie == "" {
			t.Fatalf("login: %d, cookie %q", answer.Code, cookie)
		}
		return cookie
	}
	reads, acts := login(token+"-read"), login(token)
	for _, path := range []string{"/", "/batches", "/schedules", "/search", "/health", "/monitoring/", "/metrics",
		"/v1/runs"} {
		for _, answer := range []*httptest.ResponseRecorder{ask("GET", path, "", token+"-read", ""),
			ask("GET", path, "", "", reads)} {
			if answer.Code != http.StatusOK {
				t.Errorf("%s: %d", path, answer.Code)
			}
		}
	}
	for _, path := range []string{"/act", "/new", "/schedules", "/health", "/runs/x/remarks", "/v1/runs",
		"/v1/runs/x/cancel",
		"/monitoring/api/queues/planning:pause"} {
		for _, answer := range []*httptest.ResponseRecorder{ask("POST", path, "a=b", token+"-read", ""),
			ask("POST", path, "a=b", "", reads)} {
			if answer.Code != http.StatusForbidden || !strings.Contains(answer.Body.String(), "serve.read_token") {
				t.Errorf("POST %s: %d %s", path, answer.Code, answer.Body)
			}
		}
	}
	if page := ask("GET", "/batches", "", "", reads).Body.String(); strings.Contains(page, `href="./new"`) ||
		!strings.Contains(page, `class="looks"`) {
		t.Errorf("a page for readers:\n%s", page)
	}
	if page := ask("GET", "/batches", "", "", acts).Body.String(); !strings.Contains(page, `href="./new"`) ||
		strings.Contains(page, `class="looks"`) {
		t.Errorf("a page for who may do everything:\n%s", page)
	}
	if answer := ask("POST", "/logout", "", "", reads); answer.Code != http.StatusSeeOther {
		t.Errorf("logout: %d", answer.Code)
	}
	for _, forged := range []string{strings.Replace(reads, "=1", "=2", 1), acts + "0", "nightdesk=99999999999."} {
		if answer := ask("GET", "/batches", "", "", forged); answer.Code != http.StatusUnauthorized {
			t.Errorf("cookie %q: %d", forged, answer.Code)
		}
	}
}

// TestMonitoring_Changes: nobody changes tasks in asynqmon.
func TestMonitoring_Changes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		token, bearer string
		status        int
	}{{"", "", http.StatusMethodNotAllowed}, {"secret", "secret-read", http.StatusForbidden},
		{"secret", "secret", http.StatusMethodNotAllowed}} {
		d := newDesk(t, tc.token)
		client := asynq.NewClientFromRedisClient(d.rdb)
		if _, err := client.Enqueue(asynq.NewTask("x", nil), asynq.Queue("planning")); err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), "POST", "http://localhost/monitoring/api/queues/planning:pause", nil)
		if tc.bearer != "" {
			r.Header.Set("Authorization", "Bearer "+tc.bearer)
		}
		answer := httptest.NewRecorder()
		d.ServeHTTP(answer, r)
		if answer.Code != tc.status {
			t.Errorf("with %q: %d %s, want %d", tc.bearer, answer.Code, answer.Body, tc.status)
		}
	}
}
