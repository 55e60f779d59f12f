// Package web serves what people and programs look at: the digest of the night, batches, runs and reports with what
// their sources say, the queues in asynqmon, metrics for Prometheus, a health check, and the API below /v1, by which
// programs also enqueue topics and control runs. It shows no secrets; access.go says who may look.
//
// Start reading with New; site.go has the pages for people, metrics.go says what each metric means.
package web

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"nightdesk/cmd/nightdesk/manual"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/web/api"
	"nightdesk/jobs"
	"nightdesk/jobs/search"
	"nightdesk/pipeline/knowledge"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/schedule"
)

// Services is what the pages show. The caller closes them.
type Services struct {
	Redis redis.UniversalClient
	Queue *redisqueue.Queue // on that Redis
	Store storage.Store
	// Token must be given for everything, ReadToken lets only read; empty: there is none.
	Token, ReadToken string
	// Storage reports why the artefact store cannot be reached; nil when it can.
	Storage func(ctx context.Context) error
	// Dispatcher puts tasks into the job queue, and Enqueue topics into a batch.
	Dispatcher *jobs.Dispatcher
	Enqueue    func(ctx context.Context, order api.Order) (api.Enqueued, error)
	// Draft says what a list of topics would become, or enqueues it. The error may be an *api.Problem.
	Draft   func(ctx context.Context, d Draft, enqueue bool) (Drafted, error)
	Presets []string // by which topics are researched
	// Bases are the names of the knowledge bases that there are.
	Bases func() ([]string, error)
	// Knowledge describes them.
	Knowledge func(ctx context.Context) ([]knowledge.Info, error)
	// Ask enqueues a question about a run that has a report. The error may be an *api.Problem.
	Ask func(ctx context.Context, about topicqueue.Run, question string) (topicqueue.Run, error)
	// Fire enqueues the topics of a schedule now.
	Fire func(ctx context.Context, name string) (schedule.Firing, error)
	// Search finds words in the reports of Store.
	Search func(ctx context.Context, q search.Query) (search.Results, error)
	// ShownSource returns where a schedule reads its topics, as people see it.
	ShownSource func(source string) string
	// Troubles returns what else keeps the queue from being worked, or soon will; nil: nobody looks.
	Troubles func(ctx context.Context) []Trouble
	// Facts returns names and texts in turn, of the services that only their caller knows; nil: there are none.
	Facts func(ctx context.Context) []string
	// Doctor checks everything that is configured, as the command does.
	Doctor func(ctx context.Context) iter.Seq[Checkup]
	Log    zerolog.Logger
}

// Checkup is what a check of the command doctor has found.
type Checkup struct {
	Name   string `json:"check"`
	Result string `json:"result"` // ok, note or failed
	Text   string `json:"text"`
	Hint   string `json:"hint,omitempty"`
}

// fire is Fire for the API.
func (s Services) fire(ctx context.Context, name string) (schedule.Firing, error) {
	firing, err := s.Fire(ctx, name)
	if view.IsUsage(err) {
		err = &api.Problem{Type: "about:blank", Title: http.StatusText(http.StatusConflict), Status: http.StatusConflict,
			Detail: err.Error(), Do: cmp.Or(view.HintOf(err), "/v1/schedules/"+name+" says how the schedule is.")}
	}
	return firing, err
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
//	/topics/      the reports on a topic that was researched again and again, and what differs between two
//	/schedules    batches that come again
//	/new          topics to be put into the queue
//	/search       words in all reports and claims
//	/health       the same as /healthz, for a person
//	/a/           files of the storage: reports, digests, what was read
//	/manual/      the manual, a page for each topic
//	/v1/          the API, for programs; /v1/openapi.json describes it
//	/monitoring/  asynqmon, read-only but for who has given Token
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
	guard := &access{token: s.Token, readToken: s.ReadToken}
	(&site{Services: s, health: h, access: guard}).handle(mux)
	mux.Handle("/v1/", api.New(api.Services{Queue: s.Queue, Dispatcher: s.Dispatcher, Store: s.Store, Search: s.Search,
		Enqueue: s.Enqueue, ShownSource: s.ShownSource, Bases: s.Knowledge, Ask: s.Ask, Fire: s.fire,
		Token: s.Token != "", Log: s.Log}))
	mux.HandleFunc("GET /healthz", h.alive)
	mux.HandleFunc("GET /readyz", h.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4, ErrorLog: scrapeLog{s.Log},
	}))
	mux.Handle(monitoringPath+"/", monitoring(s.Redis, s.Token != ""))
	origin := http.NewCrossOriginProtection()
	origin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, http.StatusForbidden, "A page of another site may not do this.")
	}))
	return secured(origin.Handler(guard.guard(mux)))
}

// secured forbids the pages to be framed and to load anything from elsewhere, such as the fonts that asynqmon asks
// Google for: who looks at the desk is nobody else's business. Only asynqmon's page has scripts within
// it, and the manual's pages have their styles.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		scripts, styles := "'self'", "'self'"
		asynqmon := strings.HasPrefix(r.URL.Path, monitoringPath+"/")
		if asynqmon {
			scripts += " 'unsafe-inline'"
		}
		if asynqmon || strings.HasPrefix(r.URL.Path, "/manual/") {
			styles += " 'unsafe-inline'"
		}
		h.Set("Content-Security-Policy", "default-src 'self'; script-src "+scripts+"; style-src "+styles+"; "+
			"img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'; base-uri 'self'; form-action 'self'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}

type scrapeLog struct{ log zerolog.Logger }

func (l scrapeLog) Println(v ...any) { l.log.Warn().Any("err", v).Msg("metrics are incomplete") }
