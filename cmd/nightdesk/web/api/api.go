// Package api serves /v1 as JSON for programs: runs, batches, digests, schedules, search and event streams.
//
// The endpoints method in routes.go lists all endpoints: a path and a method of package desk. Parameters, bodies,
// answers and openapi.json are derived from the types of that method, so they cannot differ.
// Errors are application/problem+json (RFC 9457) and include advice.
//
// Entry point: [New].
package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/search"
	"nightdesk/jobs/tasks"
	"nightdesk/storage"
)

// Services holds what the API serves.
type Services struct {
	Desk   *desk.Desk
	Search func(ctx context.Context, q search.Query) (search.Results, error)
	Token  bool // requests need a token
}

// Problem is an error for a client (RFC 9457). Detail describes the error, Do the remedy.
type Problem struct {
	Type   string   `json:"type" jsonschema:"always about:blank: the status says the kind"`
	Title  string   `json:"title"`
	Status int      `json:"status"`
	Detail string   `json:"detail" jsonschema:"what is wrong"`
	Do     string   `json:"do,omitempty" jsonschema:"what to do about it"`
	Errors []string `json:"errors,omitempty" jsonschema:"each thing that is wrong"`
}

func (p *Problem) Error() string { return p.Detail }

// problem returns an error for a client, with the formatted text as Detail.
func problem(status int, do, format string, args ...any) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status,
		Detail: fmt.Sprintf(format, args...), Do: do}
}

// Refused returns an error for a client. detail describes the error, do the remedy.
func Refused(status int, detail, do string) *Problem { return problem(status, do, "%s", detail) }

// WriteProblem sends a problem as the response.
func WriteProblem(w http.ResponseWriter, p *Problem) {
	writeJSON(w, p.Status, "application/problem+json", p)
}

func writeJSON(w http.ResponseWriter, status int, kind string, body any) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		http.Error(w, "cannot encode the response", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // the client has disconnected
}

// server serves the endpoints.
type server struct {
	Services
	mux   *http.ServeMux
	spec  []byte
	rates rates
}

// methods lists the HTTP methods of the endpoints.
var methods = []string{http.MethodGet, http.MethodPost}

// New returns the handler of all paths under /v1/.
func New(s Services) http.Handler {
	a := &server{Services: s, mux: http.NewServeMux(), rates: newRates()}
	all := a.endpoints()
	var err error
	if a.spec, err = document(all, s.Token); err != nil {
		panic(err) // depends only on the types of this package
	}
	for _, e := range all {
		a.mux.HandleFunc(e.method+" /v1"+e.path, a.handler(e))
	}
	return http.HandlerFunc(a.serve)
}

// serve handles all requests, including unknown paths and methods.
func (a *server) serve(w http.ResponseWriter, r *http.Request) {
	if p := a.rates.refuse(w, r); p != nil {
		WriteProblem(w, p)
		return
	}
	if _, pattern := a.mux.Handler(r); pattern != "" {
		a.mux.ServeHTTP(w, r)
		return
	}
	var allowed []string
	for _, method := range methods {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := a.mux.Handler(other); pattern != "" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		WriteProblem(w, problem(http.StatusMethodNotAllowed, "Use "+strings.Join(allowed, " or ")+".",
			"%s is not possible here", r.Method))
		return
	}
	WriteProblem(w, problem(http.StatusNotFound, "/v1/openapi.json lists what there is.", "there is no %s", r.URL.Path))
}

// maxBody is the maximum size of a body in bytes.
const maxBody = 16 << 20

// handler returns the handler of an endpoint. It validates parameters and body as documented before it calls the
// endpoint.
func (a *server) handler(e endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := e.serve(w, r)
		if err != nil && r.Context().Err() == nil { // otherwise the client has disconnected
			WriteProblem(w, a.problemOf(r, err))
		}
	}
}

// readBody decodes the body of a request into a pointer.
func (e endpoint) readBody(w http.ResponseWriter, r *http.Request, into any) error {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return problem(http.StatusUnsupportedMediaType, "Send Content-Type: application/json.",
			"the body is %q", shown(kind))
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var value any
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err == nil {
		err = e.body.Validate(value)
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return problem(http.StatusRequestEntityTooLarge, "Split it.", "the body has more than %d bytes", large.Limit)
	case err != nil:
		return problem(http.StatusBadRequest, "/v1/openapi.json has its schema.", "the body cannot be used: %v", err)
	}
	return nil
}

// remedy returns what a client can do about an error of the desk, or "" if the error itself says so.
func remedy(err error) string {
	switch {
	case errors.Is(err, tasks.ErrNothingFailed):
		return `Set "what" to "report" to write the report again, or to "all" to start over.`
	case errors.Is(err, desk.ErrNoModel):
		return "Use /v1/search to find passages, or set LLM_MODEL for nightdesk serve and the workers."
	}
	return ""
}

// problemOf converts an error for the client and logs unknown errors.
func (a *server) problemOf(r *http.Request, err error) *Problem {
	var known *Problem
	switch {
	case errors.As(err, &known):
		return known
	case view.IsUsage(err):
		status := map[view.Kind]int{view.Misuse: http.StatusUnprocessableEntity, view.Missing: http.StatusNotFound,
			view.Conflict: http.StatusConflict}[view.KindOf(err)]
		p := problem(status, cmp.Or(remedy(err), view.HintOf(err), "Correct the request."), "%v", err)
		var lines *intake.LinesError
		if errors.As(err, &lines) {
			p.Errors = lines.Lines
		}
		return p
	case errors.Is(err, storage.ErrAway), unreachable(err):
		a.Desk.Console.Log.Warn().Err(err).Str("path", r.URL.Path).Msg("a request cannot be answered now")
		return problem(http.StatusServiceUnavailable, "Try again later; /healthz says what is away.", "%v", err)
	}
	a.Desk.Console.Log.Error().Err(err).Str("path", r.URL.Path).Msg("a request failed")
	return problem(http.StatusInternalServerError, "The log of nightdesk serve has the same error.", "%v", err)
}
