package notify_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nightdesk/jobs/notify"
)

const secretText = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func secret(t *testing.T) notify.Secret {
	t.Helper()
	s, err := notify.ParseSecret(secretText)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSign compares with the example of the reference implementations of Standard Webhooks.
func TestSign(t *testing.T) {
	t.Parallel()
	got := secret(t).Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
}

func TestParseSecret(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_c2hvcnQ=", "whsec_%%%", "whsec_" + strings.Repeat("AAAA", 30)} {
		if _, err := notify.ParseSecret(text); err == nil || len(text) > 6 && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if shown := fmt.Sprintf("%v %+v %#v %s %q", secret(t), secret(t), secret(t), secret(t), secret(t)); strings.Contains(shown, "Mf") || strings.Contains(shown, "49") {
		t.Errorf("the secret prints: %s", shown)
	}
}

func TestEvent(t *testing.T) {
	t.Parallel()
	e := notify.Event{Type: notify.RunEnded, Subject: "research_x/0", Time: noon, Data: map[string]string{"run_id": "research_x"}}
	body, err := e.Body()
	if want := `{"type":"run.ended","timestamp":"2026-03-01T12:00:00Z","data":{"run_id":"research_x"}}`; err != nil || string(body) != want {
		t.Errorf("body %s, %v; want %s", body, err, want)
	}
	again, other := e, e
	again.Time, other.Subject = noon.Add(time.Hour), "research_x/1"
	if e.ID() != again.ID() || e.ID() == other.ID() || strings.Contains(e.ID(), ".") {
		t.Errorf("ids %s, %s, %s", e.ID(), again.ID(), other.ID())
	}
}

func TestDeliver(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	for name, c := range map[string]struct {
		answer  http.HandlerFunc
		status  int // of the RefusedError; 0: delivered
		after   time.Duration
		message string
	}{
		"ok":         {answer: func(w http.ResponseWriter, _ *http.Request) {}},
		"no content": {answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }},
		"large answer": {answer: func(w http.ResponseWriter, _ *http.Request) {
			for range 1000 {
				if _, err := w.Write(make([]byte, 10_000)); err != nil {
					return
				}
			}
		}},
		"error": {answer: func(w http.ResponseWriter, r *http.Request) { http.Error(w, r.Header.Get("webhook-signature"), 500) }, status: 500},
		"busy": {answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "90")
			w.WriteHeader(503)
		}, status: 503, after: 90 * time.Second},
		"date": {answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "Sun, 01 Mar 2026 12:02:00 GMT")
			w.WriteHeader(429)
		}, status: 429, after: 2 * time.Minute},
		"redirect": {answer: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusPermanentRedirect)
		}, status: 308, message: "redirects are not followed"},
		"gone":         {answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(410) }, status: 410, message: "remove webhook.url"},
		"wrong secret": {answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, status: 401, message: "same webhook.secret"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got *http.Request
			var body []byte
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r
				body, _ = io.ReadAll(r.Body)
				c.answer(w, r)
			}))
			defer server.Close()
			w, err := notify.NewWebhook(server.URL+"/services/T0PSECRET?token=hidden", secret(t), 0)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			err = w.Deliver(t.Context(), "msg_1", []byte(`{"a":1}`), noon)
			var refused *notify.RefusedError
			switch errors.As(err, &refused); {
			case c.status == 0 && err != nil:
				t.Error(err)
			case c.status != 0 && (refused == nil || refused.Status != c.status || refused.RetryAfter != c.after || !strings.Contains(err.Error(), c.message)):
				t.Errorf("error %v (%+v)", err, refused)
			}
			if err != nil && (strings.Contains(err.Error(), "T0PSECRET") || strings.Contains(err.Error(), "hidden") || strings.Contains(err.Error(), "v1,")) {
				t.Errorf("the error tells too much: %v", err)
			}
			h := got.Header
			if h.Get("webhook-id") != "msg_1" || h.Get("webhook-timestamp") != "1772366400" || string(body) != `{"a":1}` ||
				h.Get("webhook-signature") != secret(t).Sign("msg_1", noon, body) || h.Get("Content-Type") != "application/json" {
				t.Errorf("sent %v with %s", h, body)
			}
		})
	}
	t.Cleanup(func() {
		if elsewhere.Load() > 0 {
			t.Error("a redirect was followed")
		}
	})
}

func TestDeliverEndsInTime(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	asked := make(chan struct{}, 2)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-end:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(end) })
	w, err := notify.NewWebhook(server.URL+"/T0PSECRET", secret(t), 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Deliver(t.Context(), "msg_1", nil, noon); err == nil || !strings.Contains(err.Error(), "within 50ms") || strings.Contains(err.Error(), "T0P") {
		t.Errorf("a receiver that hangs: %v", err)
	}
	<-asked
	patient, err := notify.NewWebhook(server.URL, secret(t), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	defer patient.Close()
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-asked; cancel(stopped) }()
	if err := patient.Deliver(ctx, "msg_1", nil, noon); !errors.Is(err, stopped) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestUnreachableWebhookKeepsItsPath(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(nil)
	server.Close()
	w, err := notify.NewWebhook(server.URL+"/T0PSECRET", secret(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Deliver(t.Context(), "msg_1", nil, noon); err == nil || strings.Contains(err.Error(), "T0P") {
		t.Errorf("error %v", err)
	}
	if _, err := notify.NewWebhook("ftp://user:T0PSECRET@host/", secret(t), 0); err == nil || strings.Contains(err.Error(), "T0P") {
		t.Errorf("error %v", err)
	}
}
