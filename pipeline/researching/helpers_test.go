package researching_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/researching"
	"nightdesk/pipeline/tools"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// bench is one block with its environment: a scripted model, scripted tools, a queue in memory.
type bench struct {
	brief  string // of the plan; empty: the topic as it is
	t      *testing.T
	mu     sync.Mutex
	asked  []llm.Request
	called []string // "tool: query"
	events []topicqueue.Event
	pages  map[string]string

	// decide and note answer the model's questions: a struct, a raw string, or an error.
	decide func(k int, req llm.Request) any
	note   func(req llm.Request) any
	tools  map[string]func(query string) tools.Result
	meet   func() // every call of a tool begins with it

	run   topicqueue.Run
	start researching.Start
	queue *memoryQueue
	r     *researching.Researcher
}

// starters are the planned queries of a block.
var starters = []string{"spring tides cause", "spring tides moon phase"}

// newBench returns a block without planned queries, of a run in fixed mode with three iterations and a knowledge base
// search. Every query finds one new source with one fact.
func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, pages: map[string]string{}, tools: map[string]func(string) tools.Result{}}
	b.run = topicqueue.Run{ID: "research_20260101_000000_aaaaaaaaaa", Topic: "How tides work", Options: topicqueue.Options{
		Language: "en", MaxIterations: 3, IterationMode: topicqueue.IterationFixed, NewTopicMinScore: 0.85,
		Tools: []string{"rag_hybrid"},
	}}
	b.start = researching.Start{
		Block: topicqueue.Block{ID: "block_3", Title: "Spring tides", Overview: "When tides are highest."},
		View: topicqueue.View{Blocks: []topicqueue.BlockTitle{{ID: "block_1", Title: "Neap tides"},
			{ID: "block_2", Title: "Tidal range"}, {ID: "block_3", Title: "Spring tides"}}},
	}
	b.queue = &memoryQueue{view: b.start.View, max: 8}
	b.tools["rag_hybrid"] = func(query string) tools.Result { return found(fact(query)) }
	b.decide = func(k int, _ llm.Request) any {
		query := fmt.Sprintf("question number %d", k)
		return prompts.DecideAnswer{Reasoning: "more is needed", Actions: []prompts.Action{ask("rag_hybrid", query)}}
	}
	b.note = func(req llm.Request) any { return honestNote(req) }
	b.r = &researching.Researcher{
		Model: b, MaxActions: 3,
		Now: func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) },
		Emit: func(_ context.Context, events ...topicqueue.Event) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.events = append(b.events, events...)
			return nil
		},
	}
	b.queue.emit = b.r.Emit
	return b
}

// fact returns the text of the source that answers a query.
func fact(query string) string {
	return fmt.Sprintf("An opening line. The answer to %s is forty-two metres. A closing line.", query)
}

// found returns a result with one source per text, each in a different document.
func found(texts ...string) tools.Result {
	r := tools.Result{Text: strings.Join(texts, "\n")}
	for _, text := range texts {
		r.Sources = append(r.Sources, topicqueue.Source{Kind: topicqueue.SourceDocument, Title: "Tides",
			Document: topicqueue.TextHash(text)[:6] + ".md", Section: []string{"Tides", "Springs"}, Text: text})
	}
	return r
}

// aboveText matches the context shown above a source's text, which is not quoted.
var aboveText = regexp.MustCompile(`(?m)^The document begins: .*$`)

// honestNote returns one claim for each source of the question: its "The answer to ..." sentence.
func honestNote(req llm.Request) prompts.NoteAnswer {
	a := prompts.NoteAnswer{}
	n := 0
	for rest := aboveText.ReplaceAllString(req.Prompt.User, ""); ; {
		i := strings.Index(rest, "The answer to ")
		if i < 0 {
			return a
		}
		rest = rest[i:]
		end := strings.Index(rest, ".") + 1
		n++
		a.Claims = append(a.Claims, prompts.NoteClaim{Source: n, Text: rest[:end], Quote: rest[:end]})
		rest = rest[end:]
	}
}

func (b *bench) research() (researching.Result, error) { return b.researchWith(b.t.Context()) }

func (b *bench) researchWith(ctx context.Context) (researching.Result, error) {
	var set tools.Set
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range b.tools {
			if !yield(name) {
				return
			}
		}
	}) {
		set = append(set, scriptedTool{name, b})
	}
	b.r.Runner = &tools.Runner{Tools: set, Pages: b, Timeout: time.Minute, Limit: 20}
	return b.r.Research(ctx, b.run, cmp.Or(b.brief, b.run.Topic), b.start, b.queue)
}

// Generate implements llm.Model.
func (b *bench) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return llm.Response{}, fmt.Errorf("model: %w", context.Cause(ctx))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, req)
	var answer any
	switch step, _, _ := strings.Cut(req.Position.Step, "."); step {
	case "decide":
		answer = b.decide(req.Position.Iteration, req)
	case "note":
		answer = b.note(req)
	default:
		b.t.Errorf("unexpected question %q", req.Position.Step)
	}
	switch a := answer.(type) {
	case error:
		return llm.Response{}, a
	case string:
		return llm.Response{Text: a}, nil
	}
	text, err := json.Marshal(answer)
	return llm.Response{Text: string(bytes.ReplaceAll(text, []byte(":null"), []byte(":[]")))}, err
}

// questions returns the questions of one step.
func (b *bench) questions(step string) []llm.Request {
	var out []llm.Request
	for _, req := range b.asked {
		if req.Position.Step == step {
			out = append(out, req)
		}
	}
	return out
}

// PutPage implements tools.Pages.
func (b *bench) PutPage(_ context.Context, _, hash, text string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages[hash] = text
	return nil
}

// Page implements tools.Pages.
func (b *bench) Page(_ context.Context, _, hash string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pages[hash], nil
}

type scriptedTool struct {
	name string
	b    *bench
}

func (s scriptedTool) Name() string        { return s.name }
func (s scriptedTool) Description() string { return "answers with " + s.name }
func (s scriptedTool) Call(_ context.Context, c tools.Call) (tools.Result, error) {
	if s.b.meet != nil {
		s.b.meet()
	}
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	s.b.called = append(s.b.called, s.name+": "+c.Query)
	return s.b.tools[s.name](c.Query), nil
}

// memoryQueue stores checkpoints and judges proposals like the real queue.
type memoryQueue struct {
	view        topicqueue.View
	max         int
	checkpoints []topicqueue.Checkpoint
	emit        topicqueue.Emit
	err         error
}

func (q *memoryQueue) Checkpoint(ctx context.Context, cp topicqueue.Checkpoint) (topicqueue.CheckpointResult, error) {
	if q.err != nil {
		return topicqueue.CheckpointResult{}, q.err
	}
	q.checkpoints = append(q.checkpoints, cp)
	if err := q.emit(ctx, cp.Events...); err != nil {
		return topicqueue.CheckpointResult{}, err
	}
	admissions := topicqueue.Judge(q.view.Blocks, cp.Proposals, q.max)
	for _, a := range admissions {
		if a.Answer == topicqueue.AdmissionAdded {
			q.view.Blocks = append(slices.Clone(q.view.Blocks), topicqueue.BlockTitle{ID: a.BlockID, Title: a.Title})
		}
	}
	q.view.Queries = append(slices.Clone(q.view.Queries), cp.Queries...)
	q.view.Own = append(slices.Clone(q.view.Own), cp.Queries...)
	return topicqueue.CheckpointResult{View: q.view, Admissions: admissions}, nil
}

func (q *memoryQueue) traces() []topicqueue.ToolTrace {
	var out []topicqueue.ToolTrace
	for _, cp := range q.checkpoints {
		out = append(out, cp.Traces...)
	}
	return out
}

func act(actions ...prompts.Action) prompts.DecideAnswer {
	return prompts.DecideAnswer{Reasoning: "look", Actions: actions}
}

func ask(tool, query string) prompts.Action { return prompts.Action{ToolType: tool, Query: query} }
