// Package web serves the web interface: digests, batches, runs and reports with their sources, the queues in
// asynqmon, Prometheus metrics, health checks, and the API under /v1. Programs can also enqueue topics and control
// runs through the API. No page shows secrets; access.go controls who may use the pages.
//
// Start reading with New. The pages for users are in site.go; metrics.go explains each metric.
package web

import (
	"context"
	"iter"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/desk/health"
	"nightdesk/cmd/nightdesk/manual"
	"nightdesk/cmd/nightdesk/web/api"
	"nightdesk/jobs/search"
)

// Services holds the desk that the pages show. The caller closes it.
type Services struct {
	*desk.Desk
	// Token grants full access, ReadToken only reading. Empty: no such token.
	Token, ReadToken string
	// Search searches the reports of the storage.
	Search func(ctx context.Context, q search.Query) (search.Results, error)
	// Health makes the checks of a scope.
	Health func(ctx context.Context, scope health.Scope) iter.Seq[health.Check]
}

// New returns the handler of all pages:
//
//	/             digest of the newest batch
//	/digests/     digests of other batches
//	/batches/     batches and their runs; /csv/ has them as CSV
//	/runs/        one run: its report with sources, or its progress
//	/topics/      the reports on a repeatedly researched topic, and comparisons of two
//	/schedules    schedules
//	/new          form to enqueue topics
//	/search       search in all reports and claims
//	/health       health checks for users
//	/a/           stored files: reports, digests, pages read by runs
//	/manual/      the manual, one page per topic
//	/v1/          the API; /v1/openapi.json describes it
//	/monitoring/  asynqmon, read-only
//	/metrics      Prometheus metrics
//	/healthz      200 if Redis and storage are available, else 503; the JSON has details and other problems
//	/readyz       200 if there are no problems, else 503
func New(s Services) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(newCollector(s), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
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
	h := &healthPages{Services: s}
	guard := &access{token: s.Token, readToken: s.ReadToken}
	(&site{Services: s, health: h, access: guard}).handle(mux)
	mux.Handle("/v1/", api.New(api.Services{Desk: s.Desk, Search: s.Search, Token: s.Token != ""}))
	mux.HandleFunc("GET /healthz", h.alive)
	mux.HandleFunc("GET /readyz", h.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4, ErrorLog: scrapeLog{s.Console.Log},
	}))
	mux.Handle(monitoringPath+"/", monitoring(s.Redis))
	origin := http.NewCrossOriginProtection()
	origin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, http.StatusForbidden, "Requests from pages of other sites are not allowed.")
	}))
	return secured(origin.Handler(guard.guard(mux)))
}

// secured prevents framing the pages and loading resources from other sites, such as the fonts that asynqmon requests
// from Google. This keeps usage private. Only asynqmon's page has inline scripts; it and the manual's pages have
// inline styles.
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
