package web

import (
	"context"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"nightdesk/topicqueue/redisqueue/governor"
)

var (
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

// collectGovernor sends the metrics of each model server used within the last hour. Label server: a short hash,
// because two keys of one host count as two servers.
func (c *collector) collectGovernor(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
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
		down := 0.0
		if !s.Down.IsZero() {
			down = 1
		}
		gauge(ch, governorDown, down, host, server)
	}
}
