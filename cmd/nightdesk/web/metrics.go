package web

import (
	"cmp"
	"context"
	"slices"
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

// scrape receives the metrics of one scrape.
type scrape chan<- prometheus.Metric

// add adds a metric. One whose name ends in _total is a counter. labels: names and values by turns. Labels have few
// distinct values: stages, lanes, states, roles and models. A run is never a label.
func (s scrape) add(name, help string, value float64, labels ...string) {
	kind := prometheus.GaugeValue
	if strings.HasSuffix(name, "_total") {
		kind = prometheus.CounterValue
	}
	var names, values []string
	for pair := range slices.Chunk(labels, 2) {
		names, values = append(names, pair[0]), append(values, pair[1])
	}
	s <- prometheus.MustNewConstMetric(prometheus.NewDesc("nightdesk_"+name, help, names, nil), kind, value, values...)
}

// failed reports that metrics cannot be read. It does not affect the others.
func (s scrape) failed(name string, err error) {
	s <- prometheus.NewInvalidMetric(prometheus.NewDesc("nightdesk_"+name, "Not available now.", nil, nil), err)
}

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

// Collect sends the current metrics.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	s := scrape(ch)
	stats, err := c.queue.Stats(ctx, "", tasks.LaneHigh, tasks.LaneLow)
	s.add("redis_up", "1 when Redis answered this scrape; else the others are missing.", oneIf(err == nil))
	if err != nil { // the inspector has no deadline and would block much longer
		s.failed("runs", err)
		return
	}
	s.runs(stats)
	c.collectQueues(s)
	if w, err := c.queue.Workers(ctx); err != nil {
		s.failed("worker_processes", err)
	} else {
		s.add("worker_processes", "Worker processes that gave a sign of life within 10 s.", float64(w.Live))
		s.add("worker_slots", "Tasks that the worker processes can run in parallel.", float64(w.Slots))
	}
	c.collectGovernor(ctx, s)
}

func (s scrape) runs(stats redisqueue.Stats) {
	s.add("runs_watched", "Runs whose report is not yet in storage, according to the workers' index.",
		float64(stats.Unpublished))
	s.add("sweep_overdue_seconds", "How late the workers' next look at a run is; it grows when no worker runs.",
		stats.Overdue.Seconds())
	for _, w := range stats.Waiting {
		lane := cmp.Or(w.Lane, "normal")
		s.add("runs_waiting", "Runs that wait to be planned and have no task in asynq yet.", float64(w.Runs), "lane", lane)
		s.add("runs_oldest_waiting_seconds", "How long ago the first of them was enqueued.", w.Oldest.Seconds(),
			"lane", lane)
	}
	if stats.Runs == nil {
		return // nothing has been counted yet
	}
	for _, state := range topicqueue.RunStates {
		s.add("runs", "Runs that are in a state now; those that ended, until their report is in storage.",
			float64(stats.Runs[state]), "state", string(state))
		if state.Final() {
			s.add("runs_ended_total", "Runs that ended in a state.", float64(stats.Ended[state]), "state", string(state))
		}
	}
	s.add("deadlines_missed_total", "Runs cut short by their deadline.", float64(stats.DeadlinesMissed))
	s.add("lease_lapses_total", "Leases that lapsed: workers that died or froze in the middle of their work.",
		float64(stats.Lapses))
	for tool, n := range stats.Tools {
		const help = "Calls of tools that topic blocks asked for. Result shared: answered by what another call had brought."
		s.add("tool_calls_total", help, float64(n.Asked-n.Shared), "tool", tool, "result", "made")
		s.add("tool_calls_total", help, float64(n.Shared), "tool", tool, "result", "shared")
	}
	for _, m := range stats.Models {
		of := []string{"role", strings.ToValidUTF8(m.Role, "?"), "model", strings.ToValidUTF8(m.Model, "?")}
		s.add("model_calls_total", "Calls of models.", float64(m.Calls), of...)
		const help = "Tokens of questions (in) and answers (out)."
		s.add("model_tokens_total", help, float64(m.TokensIn), slices.Concat(of, []string{"direction", "in"})...)
		s.add("model_tokens_total", help, float64(m.TokensOut), slices.Concat(of, []string{"direction", "out"})...)
		s.add("model_cost_usd_total", "Cost of calls, where the price of the model is known.", m.CostUSD, of...)
	}
}

// placeOf returns the labels of a queue. ok: all workers share it, or it has notifications. Other queues belong to
// single `nightdesk run` processes, or to other programs that use the same Redis.
func placeOf(queue string) (labels []string, ok bool) {
	stage, lane, _ := strings.Cut(queue, "-")
	stages := []string{"planning", "researching", "reporting", "notifying"}
	lanes := []string{"", tasks.LaneHigh, tasks.LaneLow}
	ok = slices.Contains(stages, stage) && (slices.Contains(lanes, lane) || stage == "notifying")
	return []string{"stage", stage, "lane", cmp.Or(lane, "normal")}, ok
}

func (c *collector) collectQueues(s scrape) {
	names, err := c.inspector.Queues()
	if err != nil {
		s.failed("queue_tasks", err)
		return
	}
	for _, name := range names {
		of, ok := placeOf(name)
		if !ok {
			continue
		}
		q, err := c.inspector.GetQueueInfo(name)
		if err != nil { // asynq's script fails if a task disappears while it runs
			q, err = c.inspector.GetQueueInfo(name)
		}
		if err != nil {
			s.failed("queue_tasks", err)
			continue
		}
		for state, n := range map[string]int{"pending": q.Pending, "active": q.Active, "scheduled": q.Scheduled,
			"retry": q.Retry, "archived": q.Archived, "completed": q.Completed} {
			s.add("queue_tasks", "Tasks of asynq.", float64(n), slices.Concat(of, []string{"state", state})...)
		}
		s.add("queue_oldest_pending_seconds", "Waiting time of the oldest pending task.", q.Latency.Seconds(), of...)
		s.add("queue_paused", "1 if the queue is paused in asynq.", oneIf(q.Paused), of...)
		succeeded := q.ProcessedTotal - q.FailedTotal
		for result, n := range map[string]int{"succeeded": succeeded, "failed": q.FailedTotal} {
			s.add("queue_attempts_total", "Attempts at tasks that ended. A failed one is tried again or archived.",
				float64(n), slices.Concat(of, []string{"result", result})...)
		}
	}
}

// collectGovernor sends the metrics of each model server used within the last hour. Label server: a short hash,
// because two keys of one host count as two servers.
func (c *collector) collectGovernor(ctx context.Context, s scrape) {
	stats, err := governor.Stats(ctx, c.redis)
	if err != nil {
		s.failed("model_server_limit", err)
		return
	}
	for _, at := range stats {
		of := []string{"host", strings.ToValidUTF8(at.Host, "?"), "server", at.Server[:min(8, len(at.Server))]}
		s.add("model_server_limit", "Calls that may be in flight at a model server, as learned; 0 = no limit is known.",
			float64(at.Limit), of...)
		s.add("model_server_in_flight", "Calls in flight at a model server.", float64(at.InFlight), of...)
		s.add("model_server_waiting", "Calls that wait for their turn at a model server.", float64(at.Waiting), of...)
		s.add("model_server_tries_total", "Tries at a model server.", float64(at.Granted), of...)
		s.add("model_server_throttled_total", "Tries that a model server refused because they were too many.",
			float64(at.Throttled), of...)
		s.add("model_server_down", "1 when a model server is away and only probes go there.", oneIf(!at.Down.IsZero()), of...)
	}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
