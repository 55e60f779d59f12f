// Package api serves /v1 as JSON for programs: runs, batches, digests, schedules, search and event streams.
//
// The endpoints method in routes.go defines all endpoints. Both the request handling and openapi.json are derived
// from it, so they cannot differ. Errors are application/problem+json (RFC 9457) and include advice.
//
// Entry point: [New].
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	knowledge "nightdesk/cmd/nightdesk/bases"
	desk "nightdesk/cmd/nightdesk/desk/schedules"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/search"
	"nightdesk/jobs/tasks"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Services holds the dependencies of the API.
type Services struct {
	Queue      *redisqueue.Queue
	Dispatcher *tasks.Dispatcher
	Store      storage.Store
	Search     func(ctx context.Context, q search.Query) (search.Results, error)
	// Enqueue adds topics to a batch, like the enqueue command. The error is a *Problem if the client caused it.
	Enqueue func(ctx context.Context, order Order) (Enqueued, error)
	// Schedules are the schedules of the queue.
	Schedules desk.Desk
	// Knowledge is the knowledge bases of this machine.
	Knowledge *knowledge.Bases
	// Ask enqueues a question about a run that has a report. Errors: see Enqueue.
	Ask   func(ctx context.Context, about topicqueue.Run, question string) (topicqueue.Run, error)
	Token bool // requests need a token
	Log   zerolog.Logger
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

// Limits of request bodies, in bytes.
const (
	maxBody = 64 << 10
	maxList = 16 << 20 // for lists of topics
)

// call is a request to an endpoint.
type call struct {
	*http.Request
	w    http.ResponseWriter
	body any // pointer to the decoded body; nil if the endpoint has none
}

// handler returns the handler of an endpoint. It validates parameters and body as documented before it calls the
// endpoint.
func (a *server) handler(e endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{Request: r, w: w}
		err := e.check(r)
		if err == nil && e.body != nil {
			c.body, err = readBody(w, r, e)
		}
		var answer any
		if err == nil {
			answer, err = e.do(c)
		}
		switch {
		case err == nil && answer != nil:
			writeJSON(w, e.status(), "application/json", answer)
		case err == nil: // the endpoint has written the response
		case r.Context().Err() != nil: // the client has disconnected
		default:
			WriteProblem(w, a.problemOf(r, err))
		}
	}
}

func readBody(w http.ResponseWriter, r *http.Request, e endpoint) (any, error) {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return nil, problem(http.StatusUnsupportedMediaType, "Send Content-Type: application/json.",
			"the body is %q", shown(kind))
	}
	limit := int64(maxBody)
	if e.maxBody > 0 {
		limit = e.maxBody
	}
	body := reflect.New(reflect.TypeOf(e.body)).Interface()
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, limit))
	var raw json.RawMessage
	err := dec.Decode(&raw)
	if err == nil && dec.More() {
		err = errors.New("there is text after the object")
	}
	if err == nil {
		err = e.valid(raw)
	}
	if err == nil {
		err = json.Unmarshal(raw, body)
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, problem(http.StatusRequestEntityTooLarge, "Split it.", "the body has more than %d bytes", limit)
	case err != nil:
		return nil, problem(http.StatusBadRequest, "/v1/openapi.json has its schema.", "the body cannot be used: %v", err)
	}
	return body, nil
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
		return problem(status, view.HintOf(err), "%v", err)
	case errors.Is(err, search.ErrNoWords):
		return problem(http.StatusBadRequest, "Give at least one word in q.", "%v", err)
	case errors.Is(err, storage.ErrAway), unreachable(err):
		a.Log.Warn().Err(err).Str("path", r.URL.Path).Msg("a request cannot be answered now")
		return problem(http.StatusServiceUnavailable, "Try again later; /healthz says what is away.", "%v", err)
	}
	a.Log.Error().Err(err).Str("path", r.URL.Path).Msg("a request failed")
	return problem(http.StatusInternalServerError, "The log of nightdesk serve has the same error.", "%v", err)
}

// check validates the parameters of a request.
func (e endpoint) check(r *http.Request) error {
	query := r.URL.Query()
	for name, values := range query {
		if !slices.ContainsFunc(e.params, func(p param) bool { return p.in == inQuery && p.name == name }) {
			return problem(http.StatusBadRequest, "/v1/openapi.json lists the parameters.",
				"there is no parameter %q here", shown(name))
		}
		if len(values) > 1 {
			return problem(http.StatusBadRequest, "Give it once.", "parameter %q is given %d times", name, len(values))
		}
	}
	for _, p := range e.params {
		value, given := "", true
		switch p.in {
		case inQuery:
			value, given = query.Get(p.name), query.Has(p.name)
		case inPath:
			value = r.PathValue(p.name)
		case inHeader:
			value, given = r.Header.Get(p.name), len(r.Header.Values(p.name)) > 0
		}
		if why := p.wrong(value, given); why != "" {
			status := http.StatusBadRequest
			if p.in == inPath {
				status = http.StatusNotFound
			}
			return problem(status, "/v1/openapi.json says what it may be.", "%s %q: %s", p.name, shown(value), why)
		}
	}
	return nil
}
