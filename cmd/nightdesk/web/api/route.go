package api

import (
	"context"
	"fmt"
	"net/http"
	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/desk/reports"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// endpoint is one operation of the API.
type endpoint struct {
	method, path string // path under /v1
	id, about    string
	in, out      reflect.Type
	params       []param  // fields of in that do not come from a body
	kinds        []string // media types of the answer, if that is not an out as JSON
	noContent    bool     // the response may also be 204
	serve        func(w http.ResponseWriter, r *http.Request) error
}

// route returns the endpoint that serves a method of the desk. Each field of In with a json name is a parameter: in the
// path if that names it, in the header of its tag header, else in the query of a GET and in the body of a POST. The tag
// valid names its rule.
func route[In, Out any](method, path, id, about string, do func(context.Context, In) (Out, error)) endpoint {
	e := endpoint{method: method, path: path, id: id, about: about, in: reflect.TypeFor[In](), out: reflect.TypeFor[Out]()}
	e.params = paramsOf(method, path, e.in)
	e.serve = func(w http.ResponseWriter, r *http.Request) error {
		in, err := read[In](e, w, r)
		if err != nil {
			return err
		}
		out, err := do(r.Context(), in)
		if err == nil {
			writeJSON(w, http.StatusOK, "application/json", out)
		}
		return err
	}
	return e
}

// rawRoute is route for an answer that is not JSON.
func rawRoute[In any](path, id, about string, kinds []string,
	do func(w http.ResponseWriter, r *http.Request, in In) error) endpoint {
	e := endpoint{method: http.MethodGet, path: path, id: id, about: about, in: reflect.TypeFor[In](), kinds: kinds}
	e.params = paramsOf(e.method, path, e.in)
	e.serve = func(w http.ResponseWriter, r *http.Request) error {
		in, err := read[In](e, w, r)
		if err != nil {
			return err
		}
		return do(w, r, in)
	}
	return e
}

// read checks the parameters and the body of a request.
func read[In any](e endpoint, w http.ResponseWriter, r *http.Request) (in In, err error) {
	if err := e.check(r); err != nil {
		return in, err
	}
	if e.method == http.MethodPost {
		if err := e.readBody(w, r, &in); err != nil {
			return in, err
		}
	}
	into := reflect.ValueOf(&in).Elem()
	for _, p := range e.params {
		values, _ := p.values(r)
		if len(values) == 0 || values[0] == "" {
			values = slices.DeleteFunc([]string{p.absent}, func(s string) bool { return s == "" })
		}
		if len(values) == 0 {
			continue
		}
		switch field := into.FieldByIndex(p.index); field.Kind() {
		case reflect.Int:
			n, _ := strconv.Atoi(values[0]) // was checked
			field.SetInt(int64(n))
		case reflect.Slice:
			field.Set(reflect.ValueOf(values))
		default:
			field.SetString(values[0])
		}
	}
	return in, nil
}

// Locations of parameters.
const (
	inPath   = "path"
	inQuery  = "query"
	inHeader = "header"
)

// param is a parameter of an endpoint.
type param struct {
	rule
	name, in, about string
	field           string // name of its field in JSON
	index           []int  // of its field
	required, many  bool
}

// rule is what a value must be.
type rule struct {
	pattern     string   // required regular expression; empty: any text
	allowed     []string // allowed values; nil: any
	least, most int      // limits of a number; both 0: the parameter is text
	absent      string   // value of an absent parameter
}

// rules are the values of the tag valid. Names of runs and batches are used in storage keys.
var rules = map[string]rule{
	"run":    {pattern: `^[A-Za-z0-9_-]{1,100}$`},
	"batch":  {pattern: `^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$`},
	"name":   {pattern: `^[^\x00-\x1f/]{1,100}$`},
	"cursor": {pattern: `^[A-Za-z0-9_-]{1,300}$`},
	"key":    {pattern: `^[\x21-\x7e]{1,200}$`},
	"event":  {pattern: `^[0-9]{1,15}$`},
	"state":  {allowed: desk.States()},
	"sort":   {allowed: desk.Sorts},
	"format": {allowed: reports.Formats()},
	"limit":  {least: 1, most: 500, absent: "50"},
	"few":    {least: 1, most: 100},
	"offset": {least: 0, most: 1_000_000},
	"":       {},
}

// paramsOf returns the parameters that the fields of a request define.
func paramsOf(method, path string, in reflect.Type) (out []param) {
	for _, f := range reflect.VisibleFields(in) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		known, ok := rules[f.Tag.Get("valid")]
		if !ok {
			panic("no rule for parameter " + name)
		}
		p := param{rule: known, name: name, in: inQuery, about: f.Tag.Get("jsonschema"), field: name, index: f.Index,
			required: options != "omitempty", many: f.Type.Kind() == reflect.Slice}
		header := f.Tag.Get("header")
		switch {
		case strings.Contains(path, "{"+name+"}"):
			p.in = inPath
		case header != "":
			p.in, p.name = inHeader, header
		case method != http.MethodGet:
			continue // in the body
		}
		out = append(out, p)
	}
	return out
}

// values returns the values of the parameter in a request, and whether it is given.
func (p param) values(r *http.Request) (values []string, given bool) {
	switch p.in {
	case inPath:
		return []string{r.PathValue(p.name)}, true
	case inHeader:
		values = r.Header.Values(p.name)
	default:
		values = r.URL.Query()[p.name]
	}
	return values, len(values) > 0
}

// check validates the parameters of a request.
func (e endpoint) check(r *http.Request) error {
	for name := range r.URL.Query() {
		if !slices.ContainsFunc(e.params, func(p param) bool { return p.in == inQuery && p.name == name }) {
			return problem(http.StatusBadRequest, "/v1/openapi.json lists the parameters.",
				"there is no parameter %q here", shown(name))
		}
	}
	for _, p := range e.params {
		values, given := p.values(r)
		if len(values) > 1 && p.in == inQuery && !p.many {
			return problem(http.StatusBadRequest, "Give it once.", "parameter %q is given %d times", p.name, len(values))
		}
		for _, value := range append(values, []string{""}[min(len(values), 1):]...) {
			if why := p.wrong(value, given); why != "" {
				status := http.StatusBadRequest
				if p.in == inPath {
					status = http.StatusNotFound
				}
				return problem(status, "/v1/openapi.json says what it may be.", "%s %q: %s", p.name, shown(value), why)
			}
		}
	}
	return nil
}

const longestText = 1000

// wrong returns why a value is invalid, or "" if it is valid.
func (p param) wrong(value string, given bool) string {
	switch {
	case value == "" && p.required:
		return "it must be given"
	case value == "" && (!given || p.free()):
		return ""
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return "it is not UTF-8 text"
	case p.allowed != nil:
		if !slices.Contains(p.allowed, value) {
			return "it is one of " + strings.Join(p.allowed, ", ")
		}
	case p.most > 0:
		if n, err := strconv.Atoi(value); err != nil || n < p.least || n > p.most {
			return fmt.Sprintf("it is a whole number from %d to %d", p.least, p.most)
		}
	case p.pattern != "" && !regexp.MustCompile(p.pattern).MatchString(value):
		return "it must match " + p.pattern
	case utf8.RuneCountInString(value) > longestText:
		return fmt.Sprintf("it has more than %d characters", longestText)
	}
	return ""
}

// free reports whether any text is valid.
func (p param) free() bool { return p.allowed == nil && p.most == 0 && p.pattern == "" }

func (p param) schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Pattern: p.pattern}
	switch {
	case p.allowed != nil:
		for _, v := range p.allowed {
			s.Enum = append(s.Enum, v)
		}
	case p.most > 0:
		least, most := float64(p.least), float64(p.most)
		return &jsonschema.Schema{Type: "integer", Minimum: &least, Maximum: &most}
	case p.pattern == "":
		longest := longestText
		s.MaxLength = &longest
		if p.required {
			one := 1
			s.MinLength = &one
		}
	}
	if p.many {
		return &jsonschema.Schema{Type: "array", Items: s}
	}
	return s
}
