package llm_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/prompts"
)

// bounded is the structured question with bounds on its list.
func bounded() llm.Request {
	req := structured()
	req.Prompt.Bounds = []prompts.Bound{
		{Property: "tags", Least: 1, Most: 2, OneOf: []string{"a", "b"}},
		{Property: "title", OneOf: []string{"Rain", "Snow"}},
		{Property: "missing", Least: 1, OneOf: []string{"x"}},
	}
	return req
}

func TestBoundsAreSentButNotEnforced(t *testing.T) {
	t.Parallel()
	outside := strings.Replace(goodCard, `["a","b"]`, `["a","b","c"]`, 1)
	for transport, refuse := range map[llm.Transport][]string{llm.TransportSchema: nil, llm.TransportTool: {"response_format"},
		llm.TransportPrompt: {"response_format", "tools"}} {
		t.Run(string(transport), func(t *testing.T) {
			t.Parallel()
			var seen llmtest.Question
			stub := &llmtest.Stub{Refuse: refuse, Answer: func(q llmtest.Question) (string, bool) { seen = q; return outside, true }}
			c := setup(t, stub, func(s *llm.RoleSettings) { s.Reasoning = true })
			got, err := llm.Ask[card](t.Context(), c, bounded())
			if err != nil || len(got.Tags) != 3 {
				t.Fatalf("an answer outside the bounds: %+v, %v", got, err)
			}
			want := string(cardSchema)
			if transport != llm.TransportPrompt {
				want = strings.Replace(want, `"tags":{"type":"array","items":{"type":"string"}`, `"tags":{"type":"array","maxItems":2,"minItems":1,"items":{"type":"string","enum":["a","b"]}`, 1)
				want = strings.Replace(want, `"title":{"type":"string"`, `"title":{"type":"string","enum":["Rain","Snow"]`, 1)
			}
			if string(seen.Schema) != want {
				t.Errorf("schema sent:\n%s\nwant:\n%s", seen.Schema, want)
			}
			if in := strings.Contains(seen.System, string(cardSchema)); in != (transport == llm.TransportPrompt) {
				t.Errorf("the schema stands in the text: %v\n%s", in, seen.System)
			}
		})
	}
}

// A server that refuses bounds is asked without them over the same transport, and not with them again.
func TestRefusedBoundsAreLeftOut(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		refuses string   // transport on which bounds are refused
		lacks   []string // fields that the server refuses anyway
		want    []string // transports asked; + = with bounds
	}{
		"schema":  {"json_schema", nil, []string{"json_schema+", "json_schema", "json_schema"}},
		"nothing": {"", nil, []string{"json_schema+", "json_schema+"}},
		"tool":    {"tool", []string{"response_format"}, []string{"json_schema+", "json_schema", "tool+", "tool", "tool"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []string
			stub := &llmtest.Stub{Refuse: tc.lacks, Intercept: func(w http.ResponseWriter, q llmtest.Question) bool {
				has := strings.Contains(string(q.Schema), "maxItems")
				if asked = append(asked, q.Transport); has {
					asked[len(asked)-1] += "+"
				}
				if !has || q.Transport != tc.refuses {
					return false
				}
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte(`{"error":{"message":"Invalid schema for response_format: 'maxItems' is not permitted"}}`))
				return true
			}}
			c := setup(t, stub, nil)
			for range 2 {
				if _, err := llm.Ask[card](t.Context(), c, bounded()); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(asked, tc.want) {
				t.Errorf("asked %q, want %q", asked, tc.want)
			}
		})
	}
}

// A server without response_format still gets the bounds with its tool: llama-cpp-python makes a grammar of both.
func TestBoundsComeBackWithTheTool(t *testing.T) {
	t.Parallel()
	var asked []string
	stub := &llmtest.Stub{
		Refuse: []string{"response_format"},
		Answer: func(q llmtest.Question) (string, bool) {
			asked = append(asked, string(q.Schema))
			return goodCard, true
		},
	}
	c := setup(t, stub, nil)
	for range 2 {
		if _, err := llm.Ask[card](t.Context(), c, bounded()); err != nil {
			t.Fatal(err)
		}
	}
	if len(asked) != 2 || !strings.Contains(asked[0], "maxItems") || !strings.Contains(asked[1], "maxItems") || stub.Stats().Calls != 4 {
		t.Errorf("%d requests, answered schemas %q", stub.Stats().Calls, asked)
	}
}

// Every bound of a real prompt is inserted, and the narrowed schema is valid.
func TestBoundsOfThePromptsFit(t *testing.T) {
	t.Parallel()
	blocks := []prompts.BlockDigest{{ID: "block_1"}, {ID: "block_2"}}
	for _, p := range []prompts.Prompt{
		prompts.Decompose("en", prompts.DecomposeData{N: 3, Exactly: true}),
		prompts.Decide("en", prompts.DecideData{MaxActions: 3, Tools: []prompts.ToolLine{{Name: "rag_naive"}}}),
		prompts.Note("en", prompts.NoteData{Most: 20, Blocks: []prompts.NoteBlock{{ID: "block_1"}}}),
		prompts.Outline("en", prompts.OutlineData{Blocks: blocks}),
	} {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			for _, b := range p.Bounds {
				if !strings.Contains(string(p.Schema), `"`+b.Property+`":{`) {
					t.Errorf("%s does not stand in the schema", b.Property)
				}
			}
			var seen llmtest.Question
			stub := &llmtest.Stub{Answer: func(q llmtest.Question) (string, bool) { seen = q; return "", false }}
			req := llm.Request{Role: llm.Researcher, Prompt: p}
			if _, err := llm.Ask[map[string]any](t.Context(), setup(t, stub, nil), req); err != nil {
				t.Fatal(err)
			}
			added := 0
			for _, b := range p.Bounds {
				places := strings.Count(string(p.Schema), `"`+b.Property+`":{`)
				for _, on := range []bool{b.Least > 0, b.Most > 0, len(b.OneOf) > 0} {
					if on {
						added += places
					}
				}
			}
			found := 0
			for _, word := range []string{`"minItems":`, `"maxItems":`, `"enum":[`} {
				found += strings.Count(string(seen.Schema), word)
			}
			if found != added || added == 0 || !json.Valid(seen.Schema) {
				t.Errorf("%d of %d bounds stand in %s", found, added, seen.Schema)
			}
		})
	}
}
