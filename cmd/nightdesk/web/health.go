package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/governor"
)

const (
	healthTime = 3 * time.Second // for all checks together
	healthAge  = 5 * time.Second // maximum age of a cached answer; makes frequent requests cheap
)

// health checks whether the services are available.
type health struct {
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

	Troubles []Trouble `json:"troubles,omitempty"` // other problems that prevent queue processing
}

// alive responds 200 if Redis and storage are available, otherwise 503.
func (h *health) alive(w http.ResponseWriter, r *http.Request) {
	a := h.check(context.WithoutCancel(r.Context())) // other requests wait for the same answer
	tell(w, a, a.Status == "ok")
}

// ready responds 200 if queue processing is possible, otherwise 503.
func (h *health) ready(w http.ResponseWriter, r *http.Request) {
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

func (h *health) check(ctx context.Context) healthAnswer {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.answer.Status == "ok" && len(h.answer.Troubles) == 0 && time.Since(h.at) < healthAge {
		return h.answer
	}
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	a := healthAnswer{Status: "ok"}
	var both sync.WaitGroup
	both.Go(func() { a.Redis = verdict(h.Queue.Writable(ctx)) })
	both.Go(func() { a.Storage = verdict(h.Storage(ctx)) })
	if h.Services.Troubles != nil {
		both.Go(func() { a.Troubles = h.Services.Troubles(ctx) })
	}
	both.Wait()
	if a.Redis != "ok" || a.Storage != "ok" {
		a.Status = "failing"
	}
	h.at, h.answer = time.Now(), a
	return a
}

func verdict(err error) string {
	if err != nil {
		return err.Error()
	}
	return "ok"
}

// healthFacts is the data of the page /health.
type healthFacts struct {
	Said     string // result of a form
	Troubles []Trouble
	Facts    []fact
	Servers  []serverLine
	Unsent   []string
	Models   []redisqueue.ModelStats
}

type serverLine struct {
	Host, Limit, State string
	governor.Stat
}

// page shows problems that prevent queue processing, and the state of the queue.
func (h *health) page(ctx context.Context, _ *http.Request) (string, any, error) {
	p, err := h.facts(ctx)
	return "Health", p, err
}

// sendAgain retries the undelivered notifications now.
func (h *health) sendAgain(ctx context.Context, _ *http.Request) (string, any, error) {
	sent, err := jobs.RetryNotifications(h.Redis)
	if err != nil {
		return "", nil, err
	}
	n := 0
	for _, u := range sent {
		n += u.Waiting
	}
	p, err := h.facts(ctx)
	p.Said = view.Counted(n, "notification") + " to be sent now, by the next worker that is free."
	return "Health", p, err
}

// everything shows the results of the doctor command.
func (h *health) everything(ctx context.Context, _ *http.Request) (string, any, error) {
	return "All checks", slices.Collect(h.Doctor(ctx)), nil
}

func (h *health) facts(ctx context.Context) (p healthFacts, err error) {
	a := h.check(context.WithoutCancel(ctx))
	p.Troubles = a.Troubles
	for _, service := range []Trouble{{Of: "redis", Text: a.Redis}, {Of: "storage", Text: a.Storage}} {
		if service.Text != "ok" {
			p.Troubles = append(p.Troubles, service)
		}
	}
	stats, err := h.Queue.Stats(ctx, "", jobs.LaneHigh, jobs.LaneLow)
	if err != nil {
		return p, err
	}
	workers, err := h.Queue.Workers(ctx)
	if err != nil {
		return p, err
	}
	waiting, oldest := int64(0), time.Duration(0)
	for _, w := range stats.Waiting {
		waiting += w.Runs
		oldest = max(oldest, w.Oldest)
	}
	age := ""
	if waiting > 0 {
		age = view.Duration(oldest)
	}
	p.Models = stats.Models
	p.Facts = facts("Workers", strconv.Itoa(workers.Live), "Tasks at once", strconv.Itoa(workers.Slots),
		"Runs not stored yet", strconv.FormatInt(stats.Unpublished, 10),
		"Waiting for planning", strconv.FormatInt(waiting, 10),
		"Oldest of them waits", age, "Redis", a.Redis, "Storage", a.Storage)
	if h.Services.Facts != nil {
		p.Facts = append(p.Facts, facts(h.Services.Facts(ctx)...)...)
	}
	if p.Servers, err = h.servers(ctx); err != nil {
		return p, err
	}
	unsent, err := jobs.UnsentEvents(h.Redis)
	for _, u := range unsent {
		if u.Failed+u.GivenUp > 0 {
			p.Unsent = append(p.Unsent, fmt.Sprintf("%d to be tried again, %d given up: %s", u.Failed, u.GivenUp, u.Error))
		}
	}
	return p, err
}

// servers lists the model servers that were used within the last hour.
func (h *health) servers(ctx context.Context) (out []serverLine, err error) {
	stats, err := governor.Stats(ctx, h.Redis)
	for _, s := range stats {
		line := serverLine{Host: s.Host, Limit: "not known", State: "up", Stat: s}
		if s.Limit > 0 {
			line.Limit = strconv.Itoa(s.Limit)
		}
		if !s.Down.IsZero() {
			line.State = "away since " + when(s.Down) + ": " + s.Why
		}
		out = append(out, line)
	}
	return out, err
}
