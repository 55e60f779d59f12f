package jobs_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/jobs"
	"nightdesk/jobs/notify"
	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue/proctest"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

const hookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// receiver receives events. answer decides the response to the nth delivery of an event, counted from 1.
type receiver struct {
	t      *testing.T
	server *httptest.Server
	answer func(event string, n int) int
	got    chan delivery // of every delivery, when it was answered

	mu   sync.Mutex
	seen map[string]int // deliveries by id
}

type delivery struct {
	id   string
	n    int
	Type string
	Data struct {
		RunID   string `json:"run_id"`
		Batch   string
		State   string
		Report  string
		Outcome string
		First   []string
		Digest  string
	}
}

func newReceiver(t *testing.T, answer func(event string, n int) int) *receiver {
	t.Helper()
	r := &receiver{t: t, answer: answer, got: make(chan delivery, 100), seen: map[string]int{}}
	secret, err := notify.ParseSecret(hookSecret)
	if err != nil {
		t.Fatal(err)
	}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		d := delivery{id: req.Header.Get("webhook-id")}
		at, _ := strconv.ParseInt(req.Header.Get("webhook-timestamp"), 10, 64)
		if want := secret.Sign(d.id, time.Unix(at, 0), body); req.Header.Get("webhook-signature") != want {
			t.Errorf("signature %q, want %q", req.Header.Get("webhook-signature"), want)
		}
		if err := json.Unmarshal(body, &d); err != nil {
			t.Errorf("body %s: %v", body, err)
		}
		r.mu.Lock()
		r.seen[d.id]++
		d.n = r.seen[d.id]
		r.mu.Unlock()
		w.WriteHeader(r.answer(d.Type, d.n))
		r.got <- d
	}))
	t.Cleanup(r.server.Close)
	return r
}

func (r *receiver) webhooks() []*notify.Webhook { return []*notify.Webhook{hookAt(r.t, r.server.URL)} }

// hookAt returns the webhook at an address.
func hookAt(t testing.TB, address string) *notify.Webhook {
	t.Helper()
	secret, err := notify.ParseSecret(hookSecret)
	if err != nil {
		t.Fatal(err)
	}
	w, err := notify.NewWebhook(address, secret, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// next returns the next delivery.
func (r *receiver) next() delivery {
	r.t.Helper()
	select {
	case d := <-r.got:
		return d
	case <-time.After(scaletest.Patience):
		r.t.Fatal("no delivery within a minute")
	}
	return delivery{}
}

// TestEventsAreDelivered ends a batch whose receiver fails at first.
func TestEventsAreDelivered(t *testing.T) {
	t.Parallel()
	rdb := redistest.Server(t)
	b := setup(t, rdb, nil)
	r := newReceiver(t, func(_ string, n int) int { return map[int]int{1: 500, 2: 302}[n] + map[bool]int{true: 204}[n > 2] })
	b.services.Webhooks = r.webhooks()
	b.services.Dispatcher.Announce([]string{notify.RunEnded, notify.BatchEnded}, b.services.Webhooks, false)
	w := b.start(jobs.Settings{})
	defer w.Stop()
	good := b.enqueue("How do heat pumps work in winter?", options(2, 1, 2), "")
	poor := b.enqueue("Zebrafish xylophone quasar", options(1, 1, 1), "")
	b.seal("night")
	taken := map[string]delivery{}
	for len(taken) < 3 {
		if d := r.next(); d.n == 3 {
			taken[d.Type+" "+d.Data.RunID] = d
		}
	}
	if d := taken["run.ended "+good].Data; d.State != "completed" || !strings.HasSuffix(d.Report, "reports/"+good+".md") {
		t.Errorf("run.ended says %+v", d)
	}
	if d := taken["run.ended "+poor].Data; d.State != "failed" || d.Report != "" {
		t.Errorf("run.ended says %+v", d)
	}
	ended := taken["batch.ended "].Data
	if ended.Batch != "night" || !strings.Contains(ended.Outcome, "1 failed") || !strings.HasPrefix(ended.First[0], "Failed Zebrafish") || !strings.HasSuffix(ended.Digest, "digest.html") {
		t.Errorf("batch.ended says %+v", ended)
	}

	// Repeated events and unwanted events are not sent.
	for _, e := range []notify.Event{{Type: notify.RunEnded, Subject: good + "/0"}, {Type: notify.SchedulePaused, Subject: "x"}, {Type: notify.BatchEnded, Subject: "another"}} {
		if err := b.services.Dispatcher.Notify(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if d := r.next(); d.Type != notify.BatchEnded || d.n != 1 {
		t.Errorf("delivered %+v", d)
	}
}

// TestReceiversThatTakeNothing: deliveries to a removed receiver are not retried, those to a failing one are.
// Undelivered events are listed and can be sent again.
func TestReceiversThatTakeNothing(t *testing.T) {
	t.Parallel()
	rdb := redistest.Server(t)
	b := setup(t, rdb, nil)
	first := func(status int) func(string, int) int {
		return func(_ string, n int) int { return map[bool]int{true: status, false: http.StatusNoContent}[n == 1] }
	}
	gone, broken := newReceiver(t, first(http.StatusGone)), newReceiver(t, first(http.StatusInternalServerError))
	b.services.Webhooks = append(gone.webhooks(), broken.webhooks()...)
	b.services.Dispatcher.Announce([]string{notify.BudgetReached}, b.services.Webhooks, false)
	e := notify.Event{Type: notify.BudgetReached, Subject: "night 2026-03-01"}
	if err := b.services.Dispatcher.Notify(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	w := b.start(jobs.Settings{RetryPause: time.Hour})
	for _, r := range []*receiver{gone, broken} {
		if d := r.next(); d.id != e.ID() {
			t.Errorf("delivered %+v", d)
		}
	}
	w.Stop() // returns when the tasks are settled
	unsent, err := tasks.UnsentEvents(rdb)
	if err != nil || len(unsent) != 2 {
		t.Fatalf("unsent: %+v, %v", unsent, err)
	}
	for i, want := range []tasks.Unsent{{Waiting: 1, Failed: 1, Error: "500 Internal Server Error"}, {GivenUp: 1, Error: "remove webhook.url"}} {
		got, key := unsent[i], b.services.Webhooks[1-i].Key()
		if !strings.HasSuffix(got.Error, want.Error) {
			t.Errorf("unsent because: %s", got.Error)
		}
		want.Webhook, want.Queue, want.Error = key, "notifying-"+key, got.Error
		if got != want {
			t.Errorf("unsent: %+v, want %+v", got, want)
		}
	}

	retried, err := tasks.RetryNotifications(rdb)
	if err != nil || len(retried) != 2 || retried[0].Waiting != 1 || retried[1].Waiting != 1 {
		t.Fatalf("retried: %+v, %v", retried, err)
	}
	w = b.start(jobs.Settings{RetryPause: time.Hour})
	for _, r := range []*receiver{gone, broken} {
		if d := r.next(); d.id != e.ID() || d.n != 2 {
			t.Errorf("sent again: %+v", d)
		}
	}
	w.Stop()
	if unsent, err := tasks.UnsentEvents(rdb); err != nil || len(unsent) != 0 {
		t.Errorf("unsent after that: %+v, %v", unsent, err)
	}
	if retried, err := tasks.RetryNotifications(rdb); err != nil || len(retried) != 0 {
		t.Errorf("retried once more: %+v, %v", retried, err)
	}
}

// TestDeadReceiverDelaysNoOther: one of two receivers hangs, with more events than it has slots. The other one gets all
// events meanwhile. Retries are independent, and each event arrives under its id.
func TestDeadReceiverDelaysNoOther(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Server(t), nil)
	revive := make(chan struct{})
	dead := newReceiver(t, func(string, int) int { <-revive; return 204 })
	var once sync.Once
	wake := func() { once.Do(func() { close(revive) }) }
	t.Cleanup(wake)
	good := newReceiver(t, func(_ string, n int) int { return map[bool]int{true: 503, false: 204}[n == 1] })
	b.services.Webhooks = append(dead.webhooks(), good.webhooks()...)
	b.services.Dispatcher.Announce(notify.Types, b.services.Webhooks, false)
	const events = 9
	want := map[string]bool{}
	for i := range events {
		e := notify.Event{Type: notify.BudgetReached, Subject: strconv.Itoa(i)}
		want[e.ID()] = true
		for range 2 { // told twice, sent once
			if err := b.services.Dispatcher.Notify(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
	}
	w := b.start(jobs.Settings{})
	defer w.Stop()
	defer wake() // before the worker waits for it
	taken := func(r *receiver, last int) {
		t.Helper()
		got := map[string]bool{}
		for len(got) < events {
			if d := r.next(); d.n == last {
				got[d.id] = true
			} else if d.n > last {
				t.Errorf("event %s came %d times", d.id, d.n)
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("taken are %v, told %v", got, want)
		}
	}
	taken(good, 2) // each of them was refused once
	if len(dead.got) > 0 {
		t.Fatal("the one that hangs has answered")
	}
	wake()
	taken(dead, 1)
}

// TestNotifyingProcess is a worker in a separate process, for the test that kills it.
func TestNotifyingProcess(t *testing.T) {
	socket := os.Getenv("NOTIFYING_PROCESS_REDIS")
	if socket == "" {
		t.Skip("it is started by another test")
	}
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	b := setup(t, rdb, nil)
	b.services.Webhooks = []*notify.Webhook{hookAt(t, os.Getenv("NOTIFYING_PROCESS_URL"))}
	b.start(jobs.Settings{})
	<-t.Context().Done() // until it is killed
}

// TestKilledBetweenDeliveryAndCommit kills a worker after it has delivered an event and before it has recorded that.
// Another one delivers the event again, under the same id.
func TestKilledBetweenDeliveryAndCommit(t *testing.T) {
	t.Parallel()
	socket := redistest.Socket(t)
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	t.Cleanup(func() { rdb.Close() })
	b := setup(t, rdb, nil)
	var first *exec.Cmd
	r := newReceiver(t, func(_ string, n int) int {
		if n == 1 {
			if err := first.Process.Kill(); err != nil {
				t.Error(err)
			}
			_ = first.Wait() // it was killed
		}
		return http.StatusOK
	})
	first = exec.Command(os.Args[0], "-test.run", "^TestNotifyingProcess$")
	first.Env = append(os.Environ(), "NOTIFYING_PROCESS_REDIS="+socket, "NOTIFYING_PROCESS_URL="+r.server.URL)
	proctest.Tie(first)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	b.services.Dispatcher.Announce([]string{notify.SchedulePaused}, r.webhooks(), false)
	e := notify.Event{Type: notify.SchedulePaused, Subject: "news/2026-03-01T01:00", Data: map[string]string{"batch": "news"}}
	if err := b.services.Dispatcher.Notify(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	before := r.next()
	queue := "asynq:{notifying-" + r.webhooks()[0].Key() + "}"
	leases := rdb.ZRange(t.Context(), queue+":lease", 0, -1).Val()
	if !slices.Equal(leases, []string{"webhook:" + e.ID()}) {
		t.Fatalf("leases %q: the delivery was committed", leases)
	}
	rdb.ZAdd(t.Context(), queue+":lease", redis.Z{Member: leases[0]}) // as time does
	b.services.Webhooks = r.webhooks()
	w := b.start(jobs.Settings{})
	defer w.Stop()
	after := r.next()
	if before.id != e.ID() || after.id != before.id || after.n != 2 || after.Data.Batch != "news" {
		t.Errorf("delivered %+v, then %+v", before, after)
	}
}
