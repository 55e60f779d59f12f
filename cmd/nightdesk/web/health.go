package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs"
	"nightdesk/topicqueue/redisqueue"
)

const (
	healthTime = 3 * time.Second // for both services together
	healthAge  = 5 * time.Second // how old an answer may be: whoever asks often costs nothing
)

// health answers whether the services are there.
type health struct {
	Services
	mu     sync.Mutex
	at     time.Time
	answer healthAnswer
}

// healthAnswer is what /healthz says. An error holds no credential: those of Redis and storage never do.
type healthAnswer struct {
	Status  string `json:"status"`  // ok or failing
	Redis   string `json:"redis"`   // ok, or what is wrong
	Storage string `json:"storage"` // likewise

	Troubles []Trouble `json:"troubles,omitempty"` // what else keeps the queue from being worked
}

// alive answers 200 when the services are there and 503 when one is not.
func (h *health) alive(w http.ResponseWriter, r *http.Request) {
	a := h.check(context.WithoutCancel(r.Context())) // others wait for the same answer
	tell(w, a, a.Status == "ok")
}

// ready answers 200 when the queue is worked, or would be, and 503 when something keeps it from that.
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
	_ = json.NewEncoder(w).Encode(a) // the reader is gone
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

// healthFacts is the page of /health: the same facts for a person.
type healthFacts struct {
	Troubles []Trouble
	Facts    []fact
	Models   []redisqueue.ModelStats
}

// healthPage shows what keeps the queue from being worked, and how far it is.
func (s *site) healthPage(ctx context.Context, _ *http.Request) (string, any, error) {
	a := s.check(context.WithoutCancel(ctx))
	p := healthFacts{Troubles: a.Troubles}
	for _, service := range []Trouble{{Of: "redis", Text: a.Redis}, {Of: "storage", Text: a.Storage}} {
		if service.Text != "ok" {
			p.Troubles = append(p.Troubles, service)
		}
	}
	stats, err := s.Queue.Stats(ctx, "", jobs.LaneHigh, jobs.LaneLow)
	if err != nil {
		return "", nil, err
	}
	workers, err := s.Queue.Workers(ctx)
	if err != nil {
		return "", nil, err
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
		"Runs not stored yet", strconv.FormatInt(stats.Watched, 10), "Waiting for planning", strconv.FormatInt(waiting, 10),
		"Oldest of them waits", age, "Redis", a.Redis, "Storage", a.Storage)
	return "Health", p, nil
}
