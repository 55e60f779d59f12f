package planning_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/planning"
	"nightdesk/pipeline/tools"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// desk is a planner with a scripted model, a scripted search and a record of its calls.
type desk struct {
	t       *testing.T
	mu      sync.Mutex
	asked   []llm.Request
	queries []string
	events  []topicqueue.Event

	answers map[string]func(req llm.Request) any // by step: a struct, a raw string, or an error
	search  func(query string) tools.Result      // nil: no search is enabled
	run     topicqueue.Run
	p       *planning.Planner
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, answers: map[string]func(llm.Request) any{}}
	d.run = topicqueue.Run{ID: "research_20260101_000000_aaaaaaaaaa", Topic: "How do tides work?", Options: topicqueue.Options{
		Language: "en", DecomposeMode: topicqueue.DecomposeManual, SubTopics: 3, Tools: []string{"rag_hybrid"},
	}}
	d.search = func(query string) tools.Result {
		return tools.Result{Text: "text", Sources: []topicqueue.Source{passage("tides.md", "Tides", "The tides rise and fall twice a day. "+query)}}
	}
	d.answers["rephrase"] = func(llm.Request) any { return prompts.RephraseAnswer{Topic: words(250)} }
	d.answers["decompose"] = func(llm.Request) any { return topics("Spring tides", "Neap tides", "Tidal range") }
	d.p = &planning.Planner{
		Model: d,
		Now:   func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) },
		Emit: func(_ context.Context, events ...topicqueue.Event) error {
			d.events = append(d.events, events...)
			return nil
		},
	}
	return d
}

func passage(document, section, text string) topicqueue.Source {
	return topicqueue.Source{Kind: topicqueue.SourceDocument, Title: strings.TrimSuffix(document, ".md"), Document: document,
		Section: []string{section}, Text: text}
}

func words(n int) string { return strings.TrimSpace(strings.Repeat("tide ", n)) }

func topics(titles ...string) prompts.DecomposeAnswer {
	var a prompts.DecomposeAnswer
	for _, title := range titles {
		a.SubTopics = append(a.SubTopics, prompts.DecomposedTopic{Title: title, Overview: "About " + title + ".", Queries: []string{title + " query"}})
	}
	return a
}

func (d *desk) plan() (topicqueue.Plan, error) { return d.planWith(d.t.Context()) }

func (d *desk) planWith(ctx context.Context) (topicqueue.Plan, error) {
	var set tools.Set
	if d.search != nil {
		set = tools.Set{searchTool{d}}
	}
	d.p.Runner = &tools.Runner{Tools: set, Pages: noPages{}}
	return d.p.Plan(ctx, d.run)
}

// Generate implements llm.Model.
func (d *desk) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	if ctx.Err() != nil {
		return llm.Response{}, fmt.Errorf("model: %w", context.Cause(ctx))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, req)
	step, _, _ := strings.Cut(req.Position.Step, ".")
	script, ok := d.answers[step]
	if !ok {
		d.t.Errorf("unexpected question %q", req.Position.Step)
		return llm.Response{}, llm.ErrPermanent
	}
	switch a := script(req).(type) {
	case error:
		return llm.Response{}, a
	case string:
		return llm.Response{Text: a}, nil
	default:
		text, err := json.Marshal(a)
		return llm.Response{Text: string(bytes.ReplaceAll(text, []byte(":null"), []byte(":[]")))}, err
	}
}

func (d *desk) questions(step string) []llm.Request {
	var out []llm.Request
	for _, req := range d.asked {
		if req.Position.Step == step {
			out = append(out, req)
		}
	}
	return out
}

func (d *desk) steps() string {
	var keys []string
	for i := range d.events {
		keys = append(keys, d.step(i))
	}
	return strings.Join(keys, " ")
}

// step returns the step key of an event.
func (d *desk) step(i int) string {
	var s topicqueue.PipelineStep
	if err := json.Unmarshal(d.events[i].Content, &s); err != nil {
		d.t.Fatal(err)
	}
	return s.StepKey
}

type searchTool struct{ d *desk }

func (s searchTool) Name() string        { return "rag_hybrid" }
func (s searchTool) Description() string { return "searches" }
func (s searchTool) Call(_ context.Context, c tools.Call) (tools.Result, error) {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	s.d.queries = append(s.d.queries, c.Query)
	return s.d.search(c.Query), nil
}

type noPages struct{}

func (noPages) PutPage(context.Context, string, string, string) error { return nil }

func (noPages) Page(context.Context, string, string) (string, error) { return "", nil }

func titles(p topicqueue.Plan) string {
	var out []string
	for _, t := range p.SubTopics {
		out = append(out, t.Title)
	}
	return strings.Join(out, "|")
}
