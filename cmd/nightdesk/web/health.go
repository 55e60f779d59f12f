package web

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"nightdesk/cmd/nightdesk/desk/health"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/tasks"
)

const (
	healthTime = 3 * time.Second // for all checks together
	healthAge  = 5 * time.Second // maximum age of a cached answer; makes frequent requests cheap
)

// healthPages show whether the services are available.
type healthPages struct {
	Services
	mu     sync.Mutex
	at     time.Time
	answer healthAnswer
}

// healthAnswer is the response of /healthz. Errors of Redis and storage never contain credentials.
type healthAnswer struct {
	Status  string `json:"status"`  // ok or failing
	Redis   string `json:"redis"`   // ok, or the error
	Storage string `json:"storage"` // ok, or the error

	Troubles []health.Check `json:"troubles,omitempty"` // other problems that prevent queue processing
}

// alive responds 200 if Redis and storage are available, otherwise 503.
func (h *healthPages) alive(w http.ResponseWriter, r *http.Request) {
	a := h.check(context.WithoutCancel(r.Context())) // other requests wait for the same answer
	tell(w, a, a.Status == "ok")
}

// ready responds 200 if queue processing is possible, otherwise 503.
func (h *healthPages) ready(w http.ResponseWriter, r *http.Request) {
	a := h.check(context.WithoutCancel(r.Context()))
	if len(a.Troubles) > 0 {
		a.Status = "failing"
	}
	tell(w, a, a.Status == "ok")
}

func tell(w http.ResponseWriter, a healthAnswer, ok bool) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(a) // the client has disconnected
}

func (h *healthPages) check(ctx context.Context) healthAnswer {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.answer.Status == "ok" && len(h.answer.Troubles) == 0 && time.Since(h.at) < healthAge {
		return h.answer
	}
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	a := healthAnswer{Status: "ok", Redis: "ok", Storage: "ok"}
	for c := range h.Health(ctx, health.Vital) {
		switch {
		case c.Down:
			a.Status = "failing"
			*map[string]*string{"redis": &a.Redis, "storage": &a.Storage}[c.Name] = c.Text
		case c.Stops:
			a.Troubles = append(a.Troubles, c)
		}
	}
	h.at, h.answer = time.Now(), a
	return a
}

// healthPage is the data of the page /health.
type healthPage struct {
	Said   string // result of a form
	Stops  bool   // a check has found what prevents queue processing
	Unsent bool   // notifications were not delivered
	Checks []health.Check
}

// page shows the checks of what all processes share.
func (h *healthPages) page(ctx context.Context, _ *http.Request) (string, any, error) {
	return "Health", h.checks(ctx), nil
}

func (h *healthPages) checks(ctx context.Context) (p healthPage) {
	p.Checks = slices.Collect(h.Health(ctx, health.Shared))
	for _, c := range p.Checks {
		p.Stops = p.Stops || c.Stops
	}
	unsent, _ := tasks.UnsentEvents(h.Redis) // an error is reported by a check
	p.Unsent = slices.ContainsFunc(unsent, func(u tasks.Unsent) bool { return u.Failed+u.GivenUp > 0 })
	return p
}

// sendAgain retries the undelivered notifications now.
func (h *healthPages) sendAgain(ctx context.Context, _ *http.Request) (string, any, error) {
	sent, err := tasks.RetryNotifications(h.Redis)
	if err != nil {
		return "", nil, err
	}
	n := 0
	for _, u := range sent {
		n += u.Waiting
	}
	p := h.checks(ctx)
	p.Said = view.Counted(n, "notification") + " to be sent now, by the next worker that is free."
	return "Health", p, nil
}
