package web

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"nightdesk/cmd/nightdesk/desk/schedules"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/history"
	"nightdesk/pipeline/digest"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

//go:embed pages
var pageFiles embed.FS

// Style sheet and script of all pages.
var (
	//go:embed site.css
	siteStyle string
	//go:embed site.js
	siteScript string
)

// site serves the pages for users: digests, batches, runs, reports and their sources.
type site struct {
	Services
	health *healthPages
	access *access
}

// page is the data of a page template.
type page struct {
	Title string
	Up    string // path from the page to the root: "", "../", ...
	Menu  []entry
	Wide  bool // the page has tables
	Login bool // the user has logged in with a token
	Acts  bool // the user may make changes
	Data  any
}

type entry struct {
	Name, URL string
	Here      bool
}

// Home returns the URL of the start page.
func (p page) Home() string { return "./" + p.Up }

// functions format values in templates. segment escapes external text for use as a URL path segment.
var functions = template.FuncMap{
	"segment": name, "when": when, "due": view.DueTime, "outcome": schedules.Outcome, "join": strings.Join,
	"clip":  func(s string, most int) string { return topicqueue.Clip(topicqueue.OneLine(s), most) },
	"lower": func(s topicqueue.BlockStatus) string { return strings.ToLower(string(s)) },
	"used":  timeUsed, "check": view.Confirmed, "changes": changesOf, "cost": shortCost, "usage": costOf,
	"word": digest.Word, "code": markCode, "at": at, "source": sourceName, "about": sourceAbout, "fragment": textFragment,
	"said": history.Said,
}

// markCode marks the commands in a text, which stand between backticks.
func markCode(text string) template.HTML {
	var out strings.Builder
	for n, piece := range strings.Split(text, "`") {
		piece = template.HTMLEscapeString(piece)
		if n%2 == 1 {
			piece = "<code>" + piece + "</code>"
		}
		out.WriteString(piece)
	}
	return template.HTML(out.String())
}

// templates maps page names to templates. Each includes the layout.
var templates = func() map[string]*template.Template {
	layout := template.Must(template.New("layout.html").Funcs(functions).ParseFS(pageFiles, "pages/layout.html"))
	all := map[string]*template.Template{}
	files, err := pageFiles.ReadDir("pages")
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		if name, _ := strings.CutSuffix(f.Name(), ".html"); name != "layout" {
			all[name] = template.Must(template.Must(layout.Clone()).ParseFS(pageFiles, "pages/"+f.Name()))
		}
	}
	return all
}()

// menu lists the pages in the navigation of every page.
var menu = []entry{{Name: "This morning", URL: ""}, {Name: "Batches", URL: "batches"}, {Name: "New", URL: "new"},
	{Name: "Schedules", URL: "schedules"}, {Name: "Search", URL: "search"}, {Name: "Health", URL: "health"}}

// notHere returns the error for a missing page. Its text is shown to the user.
func notHere(why string) error { return view.NotFound(errors.New(why), "") }

// wrong returns the error for an invalid form. Its text is shown to the user.
func wrong(why string) error { return view.Usage(errors.New(why)) }

// show returns a handler that renders a page. name: the template; data returns the content.
func (s *site) show(name string, wide bool,
	data func(ctx context.Context, r *http.Request) (title string, data any, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		title, content, err := data(r.Context(), r)
		status, used := http.StatusOK, name
		kind := view.KindOf(err)
		switch {
		case err == nil:
		case r.Context().Err() != nil:
			return // the client has disconnected
		case errors.Is(err, redisqueue.ErrNotFound), errors.Is(err, storage.ErrNotExist), kind == view.Missing:
			status, used, title, content = http.StatusNotFound, "failure", "There is no such page", err.Error()
		case kind == view.Misuse, kind == view.Conflict:
			status, used, title, content = http.StatusBadRequest, "failure", "This could not be done", view.WithHint(err).Error()
		default:
			s.Console.Log.Error().Err(err).Str("page", r.URL.Path).Msg("a page cannot be shown")
			status, used, title = http.StatusInternalServerError, "failure", "This page is not available now"
			content = err.Error()
		}
		p := page{Title: title, Up: strings.Repeat("../", strings.Count(r.URL.Path, "/")-1), Wide: wide,
			Login: s.Token != "" && used != "login", Acts: roleOf(r.Context()) == admin, Data: content}
		for _, m := range menu {
			if m.URL == "new" && !p.Acts {
				continue
			}
			p.Menu = append(p.Menu, entry{m.Name, "./" + p.Up + m.URL, r.URL.Path == "/"+m.URL})
		}
		var body bytes.Buffer
		if err := templates[used].ExecuteTemplate(&body, "layout", p); err != nil {
			s.Console.Log.Error().Err(err).Str("page", r.URL.Path).Msg("a page cannot be made")
			http.Error(w, "This page cannot be made.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		_, _ = w.Write(body.Bytes()) // the client has disconnected
	}
}

// file serves a file that the pages load.
func file(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind+"; charset=utf-8")
		w.Header().Set("Cache-Control", "max-age=300")
		_, _ = w.Write([]byte(text)) // the client has disconnected
	}
}

// post returns a handler for a form. After success it redirects, so that reloading the page does not submit the form
// again.
func (s *site) post(do func(ctx context.Context, r *http.Request) (next string, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		next, err := do(r.Context(), r)
		if err == nil {
			http.Redirect(w, r, next, http.StatusSeeOther)
			return
		}
		s.show("failure", false, func(context.Context, *http.Request) (string, any, error) { return "", nil, err })(w, r)
	}
}

// handle registers the pages.
func (s *site) handle(mux *http.ServeMux) {
	mux.HandleFunc("GET /style.css", file("text/css", formats.StyleSheet+siteStyle))
	mux.HandleFunc("GET /site.js", file("text/javascript", siteScript))
	mux.HandleFunc("GET /{$}", s.show("morning", false, s.morning))
	mux.HandleFunc("GET /digests/{batch}", s.show("morning", false, s.digest))
	mux.HandleFunc("GET /batches", s.show("batches", true, s.batchesPage))
	mux.HandleFunc("GET /batches/{batch}", s.show("batch", true, s.batchPage))
	mux.HandleFunc("GET /csv/{batch}", s.csv)
	mux.HandleFunc("GET /runs/{run}", s.show("run", false, s.runPage))
	mux.HandleFunc("GET /runs/{run}/checks", s.show("checks", false, s.checks))
	mux.HandleFunc("GET /runs/{run}/sources/{source}", s.show("source", false, s.source))
	mux.HandleFunc("GET /runs/{run}/timeline", s.show("timeline", false, s.timeline))
	mux.HandleFunc("GET /runs/{run}/remarks", s.show("remarks", false, s.remarks))
	mux.Handle("POST /runs/{run}/remarks", http.MaxBytesHandler(s.post(s.keepRemark), maxForm))
	mux.HandleFunc("GET /topics/{topic}", s.show("topic", false, s.topic))
	mux.HandleFunc("GET /topics/{topic}/compare", s.show("compare", true, s.compare))
	mux.HandleFunc("GET /runs/{run}/zip", s.zip)
	mux.HandleFunc("GET /runs/{run}/as/{format}", s.reportFile)
	mux.HandleFunc("GET /a/{key...}", s.artefact)
	mux.HandleFunc("GET /search", s.show("search", false, s.searchPage))
	mux.HandleFunc("GET /schedules", s.show("schedules", false, s.schedules))
	mux.Handle("POST /schedules", http.MaxBytesHandler(s.show("schedules", false, s.changeSchedule), maxForm))
	mux.HandleFunc("GET /new", s.show("new", false, s.newResearch))
	mux.Handle("POST /new", http.MaxBytesHandler(s.show("new", false, s.draft), maxList))
	mux.Handle("POST /act", http.MaxBytesHandler(s.show("act", false, s.act), maxForm))
	mux.HandleFunc("GET /health", s.show("health", true, s.health.page))
	mux.Handle("POST /health", http.MaxBytesHandler(s.show("health", true, s.health.sendAgain), maxForm))
	mux.HandleFunc("GET /login", s.show("login", false, s.login))
	mux.HandleFunc("POST /login", s.enter)
	mux.HandleFunc("POST /logout", s.leave)
}

// state is the number of runs in a state, with the URL of their list.
type state struct {
	Name  topicqueue.RunState
	Count int
	URL   string
	Here  bool
}

// states lists the non-zero counts in the order of the run states. base: URL of the batch.
func states(counts map[topicqueue.RunState]int, base string, chosen string) (out []state) {
	for _, name := range topicqueue.RunStates {
		if n := counts[name]; n > 0 {
			out = append(out, state{name, n, base + "?state=" + string(name), string(name) == chosen})
		}
	}
	return out
}

// name escapes external text for use as a URL path segment.
func name(s string) string { return url.PathEscape(s) }
