package web

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/governor"
)

// scrapeTime is the timeout for reading the metrics.
const scrapeTime = 5 * time.Second

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("nightdesk_"+name, help, labels, nil)
}

// The metrics. Labels have few distinct values: stages, lanes, states, roles and models. A run is never a label.
var (
	redisUp    = describe("redis_up", "1 when Redis answered this scrape; else the others are missing.")
	queueTasks = describe("queue_tasks", "Tasks of asynq. Lane private: the runs of single `nightdesk run` processes.",
		"stage", "lane", "state")
	queueOldest = describe("queue_oldest_pending_seconds", "Waiting time of the oldest pending task.", "stage", "lane")
	queuePaused = describe("queue_paused", "1 if the queue is paused in asynq.", "stage", "lane")
	queueTries  = describe("queue_attempts_total",
		"Attempts at tasks that ended. A failed one is tried again or archived.", "stage", "lane", "result")
	workers = describe("worker_processes", "Worker processes that gave a sign of life within 10 s.")
	slots   = describe("worker_slots", "Tasks that the worker processes can run in parallel.")
	runs    = describe("runs", "Runs that are in a state now; those that ended, until their report is in storage.",
		"state")
	ended   = describe("runs_ended_total", "Runs that ended in a state.", "state")
	waiting = describe("runs_waiting", "Runs that wait to be planned and have no task in asynq yet.", "lane")
	oldest  = describe("runs_oldest_waiting_seconds", "How long ago the first of them was enqueued.", "lane")
	watched = describe("runs_watched", "Runs whose report is not yet in storage, according to the workers' index.")
	overdue = describe("sweep_overdue_seconds",
		"How late the workers' next look at a run is; it grows when no worker runs.")
	deadlines = describe("deadlines_missed_total", "Runs cut short by their deadline.")
	lapses    = describe("lease_lapses_total",
		"Leases that lapsed: workers that died or froze in the middle of their work.")
	toolCalls = describe("tool_calls_total",
		"Calls of tools that topic blocks asked for. Result shared: answered by what another call had brought.",
		"tool", "result")
	calls  = describe("model_calls_total", "Calls of models.", "role", "model")
	tokens = describe("model_tokens_total", "Tokens of questions (in) and answers (out).", "role",
		"model", "direction")
	cost = describe("model_cost_usd_total", "Cost of calls, where the price of the model is known.",
		"role", "model")
	governorLimit = describe("model_server_limit",
		"Calls that may be in flight at a model server, as learned; 0 = no limit is known.", "host", "server")
	governorInFlight = describe("model_server_in_flight", "Calls in flight at a model server.", "host", "server")
	governorWaiting  = describe("model_server_waiting", "Calls that wait for their turn at a model server.",
		"host", "server")
	governorGranted   = describe("model_server_tries_total", "Tries at a model server.", "host", "server")
	governorThrottled = describe("model_server_throttled_total",
		"Tries that a model server refused because they were too many.", "host", "server")
	governorDown = describe("model_server_down", "1 when a model server is away and only probes go there.",
		"host", "server")
)

// collector reads Redis at each scrape: one round trip for all runs, one script per queue.
type collector struct {
	redis     redis.UniversalClient
	queue     *redisqueue.Queue
	inspector *asynq.Inspector
}

func newCollector(s Services) *collector {
	return &collector{redis: s.Redis, queue: s.Queue, inspector: asynq.NewInspectorFromRedisClient(s.Redis)}
}

// Describe sends no descriptions: the metrics depend on what there is.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the current metrics. Metrics that cannot be read are reported as invalid and do not affect the
// others.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	stats, err := c.queue.Stats(ctx, "", tasks.LaneHigh, tasks.LaneLow)
	if err != nil { // the inspector has no deadline and would block much longer
		gauge(ch, redisUp, 0)
		ch <- prometheus.NewInvalidMetric(runs, err)
		return
	}
	gauge(ch, redisUp, 1)
	collectRuns(ch, stats)
	c.collectQueues(ch)
	if w, err := c.queue.Workers(ctx); err != nil {
		ch <- prometheus.NewInvalidMetric(workers, err)
	} else {
		gauge(ch, workers, float64(w.Live))
		gauge(ch, slots, float64(w.Slots))
	}
	c.collectGovernor(ctx, ch)
}

func collectRuns(ch chan<- prometheus.Metric, s redisqueue.Stats) {
	gauge(ch, watched, float64(s.Unpublished))
	gauge(ch, overdue, s.Overdue.Seconds())
	for _, w := range s.Waiting {
		lane := cmp.Or(w.Lane, "normal")
		gauge(ch, waiting, float64(w.Runs), lane)
		gauge(ch, oldest, w.Oldest.Seconds(), lane)
	}
	if s.Runs == nil {
		return // nothing has been counted yet
	}
	for _, state := range topicqueue.RunStates {
		gauge(ch, runs, float64(s.Runs[state]), string(state))
		if state.Final() {
			counter(ch, ended, float64(s.Ended[state]), string(state))
		}
	}
	counter(ch, deadlines, float64(s.DeadlinesMissed))
	counter(ch, lapses, float64(s.Lapses))
	for tool, n := range s.Tools {
		counter(ch, toolCalls, float64(n.Asked-n.Shared), tool, "made")
		counter(ch, toolCalls, float64(n.Shared), tool, "shared")
	}
	for _, m := range s.Models {
		role, model := strings.ToValidUTF8(m.Role, "?"), strings.ToValidUTF8(m.Model, "?")
		counter(ch, calls, float64(m.Calls), role, model)
		counter(ch, tokens, float64(m.TokensIn), role, model, "in")
		counter(ch, tokens, float64(m.TokensOut), role, model, "out")
		counter(ch, cost, m.CostUSD, role, model)
	}
}

// place identifies a group of queues; there may be many private queues.
type place struct{ stage, lane string }

// placeOf returns the place of a queue. ok: the queue is ours; other programs may use the same Redis.
func placeOf(queue string) (p place, ok bool) {
	stage, lane, _ := strings.Cut(queue, "-")
	switch stage {
	case "planning", "researching", "reporting", "notifying":
	default:
		return place{}, false
	}
	switch {
	case lane == "", stage == "notifying": // each receiver has its own queue
		lane = "normal"
	case lane == tasks.LaneHigh, lane == tasks.LaneLow:
	default:
		lane = "private"
	}
	return place{stage, lane}, true
}

func (c *collector) collectQueues(ch chan<- prometheus.Metric) {
	names, err := c.inspector.Queues()
	if err != nil {
		ch <- prometheus.NewInvalidMetric(queueTasks, err)
		return
	}
	sums := map[place]*asynq.QueueInfo{}
	for _, name := range names {
		p, ok := placeOf(name)
		if !ok {
			continue
		}
		info, err := c.inspector.GetQueueInfo(name)
		if err != nil { // asynq's script fails if a task disappears while it runs
			info, err = c.inspector.GetQueueInfo(name)
		}
		if err != nil {
			if p.lane != "private" { // a private queue disappears with its process
				ch <- prometheus.NewInvalidMetric(queueTasks, err)
			}
			continue
		}
		sum := sums[p]
		if sum == nil {
			sum = &asynq.QueueInfo{}
			sums[p] = sum
		}
		sum.Pending += info.Pending
		sum.Active += info.Active
		sum.Scheduled += info.Scheduled
		sum.Retry += info.Retry
		sum.Archived += info.Archived
		sum.Completed += info.Completed
		sum.ProcessedTotal += info.ProcessedTotal
		sum.FailedTotal += info.FailedTotal
		sum.Latency = max(sum.Latency, info.Latency)
		sum.Paused = sum.Paused || info.Paused
	}
	for p, q := range sums {
		for state, n := range map[string]int{"pending": q.Pending, "active": q.Active, "scheduled": q.Scheduled,
			"retry": q.Retry, "archived": q.Archived, "completed": q.Completed} {
			gauge(ch, queueTasks, float64(n), p.stage, p.lane, state)
		}
		gauge(ch, queueOldest, q.Latency.Seconds(), p.stage, p.lane)
		gauge(ch, queuePaused, oneIf(q.Paused), p.stage, p.lane)
		if p.lane != "private" { // these counts disappear with their queues, but a counter must not
			counter(ch, queueTries, float64(q.ProcessedTotal-q.FailedTotal), p.stage, p.lane, "succeeded")
			counter(ch, queueTries, float64(q.FailedTotal), p.stage, p.lane, "failed")
		}
	}
}

// collectGovernor sends the metrics of each model server used within the last hour. Label server: a short hash,
// because two keys of one host count as two servers.
func (c *collector) collectGovernor(ctx context.Context, ch chan<- prometheus.Metric) {
	stats, err := governor.Stats(ctx, c.redis)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(governorLimit, err)
		return
	}
	for _, s := range stats {
		host, server := strings.ToValidUTF8(s.Host, "?"), s.Server[:min(8, len(s.Server))]
		gauge(ch, governorLimit, float64(s.Limit), host, server)
		gauge(ch, governorInFlight, float64(s.InFlight), host, server)
		gauge(ch, governorWaiting, float64(s.Waiting), host, server)
		counter(ch, governorGranted, float64(s.Granted), host, server)
		counter(ch, governorThrottled, float64(s.Throttled), host, server)
		gauge(ch, governorDown, oneIf(!s.Down.IsZero()), host, server)
	}
}

func gauge(ch chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func counter(ch chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
