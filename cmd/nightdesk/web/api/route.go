package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/desk/reports"
)

// endpoint is one operation of the API.
type endpoint struct {
	method, path string // path under /v1
	id, about    string
	out          reflect.Type
	params       []param  // fields of the request that do not come from a body
	body         schema   // of the other fields
	kinds        []string // media types of the answer, if that is not an out as JSON
	noContent    bool     // the response may also be 204
	serve        func(w http.ResponseWriter, r *http.Request) error
}

// schema is a JSON schema, ready to validate values.
type schema struct {
	*jsonschema.Schema
	*jsonschema.Resolved
}

func newSchema(s *jsonschema.Schema) schema {
	resolved, err := s.Resolve(nil)
	if err != nil {
		panic(err) // depends only on the types of requests
	}
	return schema{s, resolved}
}

// route returns the endpoint that serves a method of the desk. Each field of In with a json name is a parameter: in the
// path if that names it, in the header of its tag header, else in the query of a GET and in the body of a POST. The tag
// valid names the rule of a parameter.
func route[In, Out any](method, path, id, about string, do func(context.Context, In) (Out, error)) endpoint {
	e := newEndpoint[In](method, path, id, about, func(w http.ResponseWriter, r *http.Request, in In) error {
		out, err := do(r.Context(), in)
		if err == nil {
			writeJSON(w, http.StatusOK, "application/json", out)
		}
		return err
	})
	e.out = reflect.TypeFor[Out]()
	return e
}

// rawRoute is route for an answer that is not JSON.
func rawRoute[In any](path, id, about string, kinds []string,
	do func(w http.ResponseWriter, r *http.Request, in In) error) endpoint {
	e := newEndpoint(http.MethodGet, path, id, about, do)
	e.kinds = kinds
	return e
}

func newEndpoint[In any](method, path, id, about string,
	do func(w http.ResponseWriter, r *http.Request, in In) error) endpoint {
	e := endpoint{method: method, path: path, id: id, about: about, params: paramsOf(method, path, reflect.TypeFor[In]())}
	if method == http.MethodPost {
		e.body = newSchema(bodySchema(reflect.TypeFor[In](), e.params))
	}
	e.serve = func(w http.ResponseWriter, r *http.Request) error {
		var in In
		if err := e.read(w, r, &in); err != nil {
			return err
		}
		return do(w, r, in)
	}
	return e
}

// read checks the parameters and the body of a request, and decodes them.
func (e endpoint) read(w http.ResponseWriter, r *http.Request, into any) error {
	for name := range r.URL.Query() {
		if !slices.ContainsFunc(e.params, func(p param) bool { return p.in == inQuery && p.name == name }) {
			return problem(http.StatusBadRequest, "/v1/openapi.json lists the parameters.",
				"there is no parameter %q here", shown(name))
		}
	}
	given := map[string]any{}
	for _, p := range e.params {
		value, err := p.value(r)
		if err != nil {
			status := http.StatusBadRequest
			if p.in == inPath {
				status = http.StatusNotFound
			}
			return problem(status, "/v1/openapi.json says what it may be.", "parameter %s: %v", p.name, err)
		}
		if value != nil {
			given[p.field] = value
		}
	}
	if e.method == http.MethodPost {
		if err := e.readBody(w, r, into); err != nil {
			return err
		}
	}
	text, err := json.Marshal(given)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// Locations of parameters.
const (
	inPath   = "path"
	inQuery  = "query"
	inHeader = "header"
)

// param is a parameter of an endpoint.
type param struct {
	name, in, about string
	field           string // name of its field in JSON
	required        bool
	rule            schema
}

// rules are the values of the tag valid. Names of runs and batches are used in storage keys.
var rules = map[string]jsonschema.Schema{
	"run":    {Pattern: `^[A-Za-z0-9_-]{1,100}$`},
	"batch":  {Pattern: `^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$`},
	"name":   {Pattern: `^[^\x00-\x1f/]{1,100}$`},
	"cursor": {Pattern: `^[A-Za-z0-9_-]{1,300}$`},
	"key":    {Pattern: `^[\x21-\x7e]{1,200}$`},
	"event":  {Pattern: `^[0-9]{1,15}$`},
	"state":  {Enum: list(desk.States())},
	"sort":   {Enum: list(desk.Sorts)},
	"format": {Enum: list(reports.Formats())},
	"limit":  {Type: "integer", Minimum: new(1.0), Maximum: new(500.0), Default: json.RawMessage("50")},
	"few":    {Type: "integer", Minimum: new(1.0), Maximum: new(100.0)},
	"offset": {Type: "integer", Minimum: new(0.0), Maximum: new(1e6)},
	"":       {MaxLength: new(1000)},
}

func list(texts []string) (out []any) {
	for _, text := range texts {
		out = append(out, text)
	}
	return out
}

// paramsOf returns the parameters that the fields of a request define.
func paramsOf(method, path string, in reflect.Type) (out []param) {
	for _, f := range reflect.VisibleFields(in) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := param{name: name, in: inQuery, about: f.Tag.Get("jsonschema"), field: name, required: options != "omitempty"}
		header := f.Tag.Get("header")
		switch {
		case name == "", name == "-":
			continue
		case strings.Contains(path, "{"+name+"}"):
			p.in = inPath
		case header != "":
			p.in, p.name = inHeader, header
		case method != http.MethodGet:
			continue // in the body
		}
		rule, known := rules[f.Tag.Get("valid")]
		if !known {
			panic("no rule for parameter " + name)
		}
		rule.Type = cmp.Or(rule.Type, "string")
		if f.Type.Kind() == reflect.Slice {
			rule = jsonschema.Schema{Type: "array", Items: rule.CloneSchemas()}
		}
		p.rule = newSchema(&rule)
		out = append(out, p)
	}
	return out
}

// value returns the value of the parameter in a request, or nil if it is absent.
func (p param) value(r *http.Request) (value any, err error) {
	var given []string
	switch p.in {
	case inPath:
		given = []string{r.PathValue(p.name)}
	case inHeader:
		given = r.Header.Values(p.name)
	default: // forms send empty values
		given = slices.DeleteFunc(r.URL.Query()[p.name], func(s string) bool { return s == "" })
	}
	many := p.rule.Type == "array"
	switch text := strings.Join(given, " "); {
	case len(given) == 0 && p.required:
		return nil, errors.New("it must be given")
	case len(given) == 0 && p.rule.Default == nil:
		return nil, nil
	case len(given) == 0:
		return p.rule.Default, nil
	case !utf8.ValidString(text), strings.ContainsRune(text, 0):
		return nil, errors.New("it is not UTF-8 text")
	case len(given) > 1 && !many:
		return nil, fmt.Errorf("it is given %d times", len(given))
	case many:
		value = list(given)
	default:
		value = given[0]
	}
	if n, err := strconv.Atoi(given[0]); err == nil && p.rule.Type == "integer" {
		value = float64(n) // as in JSON
	}
	if p.rule.Validate(value) != nil {
		allowed, _ := json.Marshal(p.rule.Schema) // a few keywords
		return nil, fmt.Errorf("%q does not fit %s", shown(strings.Join(given, " ")), allowed)
	}
	return value, nil
}
