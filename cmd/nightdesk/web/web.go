// Package web serves what people and programs look at: the digest of the night, batches, runs and reports with what
// their sources say, the queues in asynqmon, metrics for Prometheus, and a health check. It only reads, and shows no
// secrets; access.go says who may look.
//
// Start reading with New; site.go has the pages for people, metrics.go says what each metric means.
package web

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"nightdesk/cmd/nightdesk/manual"
	"nightdesk/storage"
	"nightdesk/topicqueue/redisqueue"
)

// Services is what the pages show. The caller closes them.
type Services struct {
	Redis redis.UniversalClient
	Queue *redisqueue.Queue // on that Redis
	Store storage.Store
	Token string // that readers must have; empty: none
	// Storage reports why the artefact store cannot be reached; nil when it can.
	Storage func(ctx context.Context) error
	// Troubles returns what else keeps the queue from being worked, or soon will; nil: nobody looks.
	Troubles func(ctx context.Context) []Trouble
	Log      zerolog.Logger
}

// Trouble is what keeps the queue from being worked, for a person.
type Trouble struct {
	Of   string `json:"of"` // workers, schedulers, redis or storage
	Text string `json:"text"`
	Hint string `json:"hint"` // what to do
}

// New returns the handler of all pages:
//
//	/             what the newest batch has come to
//	/digests/     the same of other batches
//	/batches/     batches and their runs; /csv/ has these for other programs
//	/runs/        one run: its report and what its sources say, or how far it is
//	/health       the same as /healthz, for a person
//	/a/           files of the storage: reports, digests, what was read
//	/manual/      the manual, a page for each topic
//	/monitoring/  asynqmon, read-only
//	/metrics      for Prometheus
//	/healthz      200 when Redis and storage are there, else 503; the JSON says which, and what else keeps the queue from being worked
//	/readyz       200 when nothing does, else 503
func New(s Services) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(newCollector(s), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /manual/{$}", func(w http.ResponseWriter, _ *http.Request) { showManual(w, manualTopics()) })
	mux.HandleFunc("GET /manual/{topic}", func(w http.ResponseWriter, r *http.Request) {
		topic, ok := manual.Find(r.PathValue("topic"))
		if !ok {
			http.NotFound(w, r)
			return
		}
		showManual(w, topic)
	})
	h := &health{Services: s}
	guard := &access{token: s.Token}
	(&site{Services: s, health: h, access: guard}).handle(mux)
	mux.HandleFunc("GET /healthz", h.alive)
	mux.HandleFunc("GET /readyz", h.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4, ErrorLog: scrapeLog{s.Log},
	}))
	mux.Handle("GET "+monitoringPath+"/", monitoring(s.Redis))
	return secured(http.NewCrossOriginProtection().Handler(guard.guard(mux)))
}

// secured forbids the pages to be framed and to load anything from elsewhere, such as the fonts that asynqmon asks
// Google for: who looks at the desk is nobody else's business.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "+
			"img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'; base-uri 'self'; form-action 'self'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}

type scrapeLog struct{ log zerolog.Logger }

func (l scrapeLog) Println(v ...any) { l.log.Warn().Any("err", v).Msg("metrics are incomplete") }
