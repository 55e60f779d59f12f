package prompts_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schema is the part of JSON Schema that strict servers accept; any other keyword fails the decoding.
type schema struct {
	Type        string   `json:"type"`
	Description string   `json:"description"`
	Properties  members  `json:"properties"`
	Required    []string `json:"required"`
	Items       *schema  `json:"items"`
	Enum        []string `json:"enum"`
	Additional  *bool    `json:"additionalProperties"`
}

// members are an object's keys in order.
type members []member

type member struct {
	key    string
	schema schema
}

func (m *members) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var s schema
		if err := dec.Decode(&s); err != nil {
			return err
		}
		*m = append(*m, member{key.(string), s})
	}
	return nil
}

// A schema and its answer struct have the same keys and types in the same order. Every object is closed and complete.
func TestSchemasFitAnswers(t *testing.T) {
	t.Parallel()
	for _, q := range questions() {
		if !q.structured {
			continue
		}
		raw := q.zero("en").Schema
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		var s schema
		if err := dec.Decode(&s); err != nil {
			t.Errorf("%s: %v", q.name, err)
			continue
		}
		fits(t, q.name, s, reflect.TypeOf(q.answer))
		if zh := q.zero("zh").Schema; !bytes.Equal(raw, zh) {
			t.Errorf("%s: the schema depends on the language", q.name)
		}
	}
}

func fits(t *testing.T, path string, s schema, typ reflect.Type) {
	t.Helper()
	want := map[reflect.Kind]string{
		reflect.Struct: "object", reflect.Slice: "array", reflect.String: "string",
		reflect.Bool: "boolean", reflect.Int: "integer", reflect.Float64: "number",
	}[typ.Kind()]
	if s.Type != want {
		t.Errorf("%s: schema says %q, struct %q", path, s.Type, want)
		return
	}
	switch typ.Kind() {
	case reflect.Slice:
		if s.Items == nil {
			t.Errorf("%s: no items", path)
			return
		}
		fits(t, path+"[]", *s.Items, typ.Elem())
	case reflect.Struct:
		if s.Additional == nil || *s.Additional {
			t.Errorf("%s: the object is open", path)
		}
		var keys, fields []string
		for _, m := range s.Properties {
			keys = append(keys, m.key)
		}
		for i := range typ.NumField() {
			fields = append(fields, typ.Field(i).Tag.Get("json"))
		}
		if diff := cmp.Diff(fields, keys); diff != "" {
			t.Errorf("%s: keys of the struct and the schema differ (-struct +schema):\n%s", path, diff)
			return
		}
		if diff := cmp.Diff(keys, s.Required); diff != "" {
			t.Errorf("%s: properties and required differ:\n%s", path, diff)
		}
		for i, m := range s.Properties {
			fits(t, path+"."+m.key, m.schema, typ.Field(i).Type)
		}
	}
}

// The examples in the prompts are valid answers. The schema is sent with the question, not in it.
func TestExamplesFitSchemas(t *testing.T) {
	t.Parallel()
	for _, q := range questions() {
		if !q.structured {
			continue
		}
		for _, lang := range []string{"en", "zh"} {
			p := q.zero(lang)
			if strings.Contains(p.System, `"properties"`) {
				t.Errorf("%s/%s: the schema stands in the system part", q.name, lang)
			}
			compiled := compile(t, p.Schema)
			examples := 0
			for row := range strings.SplitSeq(p.System, "\n") {
				if !strings.HasPrefix(row, "{") {
					continue
				}
				examples++
				value, err := jsonschema.UnmarshalJSON(strings.NewReader(row))
				if err != nil {
					t.Errorf("%s/%s: example is no JSON: %v", q.name, lang, err)
					continue
				}
				if err := compiled.Validate(value); err != nil {
					t.Errorf("%s/%s: example: %v", q.name, lang, err)
				}
				answer := reflect.New(reflect.TypeOf(q.answer)).Interface()
				dec := json.NewDecoder(strings.NewReader(row))
				dec.DisallowUnknownFields()
				if err := dec.Decode(answer); err != nil {
					t.Errorf("%s/%s: example does not decode: %v", q.name, lang, err)
				}
				if _, err := dec.Token(); !errors.Is(err, io.EOF) {
					t.Errorf("%s/%s: text after the example", q.name, lang)
				}
			}
			if examples == 0 {
				t.Errorf("%s/%s: no example", q.name, lang)
			}
		}
	}
}

func compile(t *testing.T, raw []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// A caller that modifies a schema does not change the next prompt.
func TestSchemaIsACopy(t *testing.T) {
	t.Parallel()
	for _, q := range questions() {
		if q.structured {
			p := q.zero("en")
			want := string(p.Schema)
			clear(p.Schema)
			if got := string(q.zero("en").Schema); got != want {
				t.Errorf("%s: schema became %q", q.name, got)
			}
		}
	}
}
