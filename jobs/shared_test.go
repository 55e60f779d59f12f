package jobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"nightdesk/jobs"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/tools"
	"nightdesk/prompts"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/redisqueue/shared"
)

// researcher is a model whose decisions and notes come from the test, from the first iteration on, because it plans no
// queries. The other answers are a stub's. Without a writer, the report consists of findings.
type researcher struct {
	llm.Model
	decide   func(block string, k int, question string) prompts.DecideAnswer
	noWriter bool
}

func (m researcher) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	var answer any
	switch step, _, _ := strings.Cut(req.Position.Step, "."); {
	case step == "decide":
		answer = m.decide(req.Position.Block, req.Position.Iteration, req.Prompt.User)
	case step == "note":
		answer = noteFacts(req.Prompt.User)
	case step == "decompose":
		return m.unplanned(ctx, req)
	case m.noWriter && req.Position.Stage == "reporting":
		return llm.Response{}, fmt.Errorf("no writer: %w", llm.ErrUnavailable)
	default:
		return m.Model.Generate(ctx, req)
	}
	text, err := json.Marshal(answer)
	return llm.Response{Text: strings.ReplaceAll(string(text), ":null", ":[]")}, err
}

// unplanned requests a plan and removes its queries.
func (m researcher) unplanned(ctx context.Context, req llm.Request) (llm.Response, error) {
	res, err := m.Model.Generate(ctx, req)
	if err != nil {
		return res, err
	}
	var plan prompts.DecomposeAnswer
	if err := json.Unmarshal([]byte(res.Text), &plan); err != nil {
		return res, err
	}
	for i := range plan.SubTopics {
		plan.SubTopics[i].Queries = []string{}
	}
	text, err := json.Marshal(plan)
	res.Text = string(text)
	return res, err
}

// noteFacts returns a claim for each line of the question that begins with Fact. Facts about quays count only if they
// are the subject.
func noteFacts(question string) prompts.NoteAnswer {
	a := prompts.NoteAnswer{}
	for line := range strings.Lines(question) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "Fact") && (!strings.Contains(line, "quay") || strings.Contains(question, "Quays")) {
			a.Claims = append(a.Claims, prompts.NoteClaim{Text: line, Quote: line})
		}
	}
	return a
}

// counted is a tool of this name that records its queries.
type counted struct {
	name   string
	answer func(query string) (address, text string)

	mu    sync.Mutex
	calls []string
	made  int // of them: by blocks
}

func (c *counted) Name() string        { return c.name }
func (c *counted) Description() string { return "Finds what the test wants." }
func (c *counted) Call(_ context.Context, call tools.Call) (tools.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, call.Query)
	if strings.HasPrefix(call.ToolID, "block_") {
		c.made++
	}
	address, text := c.answer(call.Query)
	return tools.Result{Text: text, Sources: []topicqueue.Source{{Kind: topicqueue.SourceWeb, Title: "Source", URL: address, Text: text}}}, nil
}

// shares enables sharing for the bench's workers.
func (b *bench) shares() {
	calls := shared.NewCalls(b.services.Redis, shared.Lease)
	b.t.Cleanup(func() { calls.Close() })
	b.services.Shared = calls
}

// TestQueriesAreShared: blocks of two runs on two workers make similar queries. Each query is made once in the batch,
// the runs count what was saved, and each bundle is complete.
func TestQueriesAreShared(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		search := &counted{name: "web_search", answer: func(query string) (address, text string) {
			words := topicqueue.CanonicalQuery(query)
			return "https://a.example/" + strings.ReplaceAll(words, " ", "-"), "A page.\nFact about " + words + ": it is known.\nThe end."
		}}
		forms := []string{"fjords of number %d, how deep?", "How DEEP fjords of number  %d"}
		b := setup(t, rdb, researcher{Model: stubModel(t, &llmtest.Stub{}), decide: func(block string, k int, _ string) prompts.DecideAnswer {
			a := prompts.DecideAnswer{Reasoning: "more"}
			for n := range 3 {
				query := fmt.Sprintf(forms[topicqueue.BlockNumber(block)%2], 3*k+n)
				if n == 2 {
					query = fmt.Sprintf("what %s alone wants %d", block, k)
				}
				a.Actions = append(a.Actions, prompts.Action{ToolType: "web_search", Query: query})
			}
			return a
		}})
		b.shares()
		b.services.Toolbox = func(context.Context, topicqueue.Run) (jobs.Toolbox, error) {
			return jobs.Toolbox{Tools: tools.Set{search}}, nil
		}
		o := options(3, 3, 3)
		o.Tools = []string{"web_search"}
		first, second := b.start(jobs.Settings{}), b.start(jobs.Settings{})
		runs := []string{b.enqueue(topic, o, ""), b.enqueue(topic+" once more", o, "")}
		asked, saved := 0, 0
		for _, id := range runs {
			b.wait(id)
			n := b.run(id).ToolCalls["web_search"]
			asked, saved = asked+n.Asked, saved+n.Shared
		}
		first.Stop()
		second.Stop()
		var different []string
		for _, query := range search.calls {
			if key := tools.Key("web_search", query); slices.Contains(different, key) {
				t.Errorf("%q was asked twice", query)
			} else {
				different = append(different, key)
			}
		}
		if asked != 2*3*3*3 || asked-saved != search.made || saved < asked/2 {
			t.Errorf("%d calls were asked for, %d saved, %d made", asked, saved, search.made)
		}
		var meta struct {
			ToolCalls map[string]topicqueue.ToolCalls `json:"tool_calls"`
		}
		data, err := b.services.Store.Get(t.Context(), storage.MetadataKey(runs[1]))
		if err := json.Unmarshal(data, &meta); err != nil {
			t.Fatal(err)
		}
		if err != nil || meta.ToolCalls["web_search"] != b.run(runs[1]).ToolCalls["web_search"] {
			t.Errorf("metadata %+v, %v", meta, err)
		}
		for _, id := range runs {
			for n := range 3 {
				traces, err := b.services.Queue.Traces(t.Context(), id, topicqueue.BlockID(n+1))
				if err != nil || len(traces) < 9 { // some have the background of the plan besides
					t.Errorf("block %d of %s has %d traces, %v", n+1, id, len(traces), err)
				}
				for _, trace := range traces {
					text, err := storage.Pages{Store: b.services.Store}.Page(t.Context(), id, trace.Source.Hash)
					if err != nil || !strings.Contains(text, trace.Claims[0].Quote) {
						t.Errorf("%s of %s: %v", trace.CitationID, id, err)
					}
				}
			}
		}
	})
}

// TestContinuation: a block reads five documents. The block that continues it knows them, reads one of them again for
// another fact, and reads a new one. Every document is fetched once, and the report has both facts.
func TestContinuation(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		const site = "https://lib.example/"
		facts := map[string]string{
			"d1": "Fact: the harbour of Reine was dredged in 1974.", "d2": "Fact: pilots board three miles off the northern mole.",
			"d3": "Fact: the lighthouse burns acetylene since 1931.\nFact: its quay measures 77 metres between the bollards.",
			"d4": "Fact: cod landings halved within nine winters.", "d5": "Fact: tugs of 4,000 horsepower wait at berth twelve.",
			"d9": "Fact: granite for the breakwater came by barge from Larvik.",
		}
		library := &counted{name: "open_page", answer: func(query string) (address, text string) {
			page, _, _ := strings.Cut(strings.TrimPrefix(query, site), "/")
			return site + page, "Page " + page + ".\n" + facts[page]
		}}
		var mu sync.Mutex
		questions := map[string]string{} // the first of each block
		b := setup(t, rdb, researcher{Model: stubModel(t, &llmtest.Stub{}), noWriter: true, decide: func(block string, k int, question string) prompts.DecideAnswer {
			mu.Lock()
			defer mu.Unlock()
			if k == 1 {
				questions[block] = question
			}
			open := func(pages ...string) (out []prompts.Action) {
				for _, p := range pages {
					out = append(out, prompts.Action{ToolType: "open_page", Query: site + p})
				}
				return out
			}
			switch {
			case block == "block_1" && k == 1:
				return prompts.DecideAnswer{Actions: open("d1", "d2", "d3")}
			case block == "block_1" && k == 2:
				return prompts.DecideAnswer{Actions: open("d4", "d5"), NewSubTopics: []prompts.NewSubTopic{{Title: "Quays and their length", Overview: "Look into d3 again.", Score: 0.95, ShouldAdd: true}}}
			case block != "block_1" && k == 1:
				return prompts.DecideAnswer{Actions: open("d3/?utm_source=desk", "d9")}
			}
			return prompts.DecideAnswer{}
		}})
		b.shares()
		b.services.Toolbox = func(context.Context, topicqueue.Run) (jobs.Toolbox, error) {
			return jobs.Toolbox{Tools: tools.Set{library}}, nil
		}
		o := options(1, 2, 1)
		o.Tools, o.QueueMaxLength = []string{"open_page"}, 2
		w := b.start(jobs.Settings{})
		id := b.enqueue(topic, o, "")
		b.wait(id)
		w.Stop()
		if want := []string{"d1", "d2", "d3", "d4", "d5", "d9"}; len(library.calls) != len(want) {
			t.Errorf("fetched %q, want each of %q once", library.calls, want)
		}
		for n := range 5 {
			if where := fmt.Sprint(site, "d", n+1); !strings.Contains(questions["block_2"], where) {
				t.Errorf("the second block is not told that %s was read:\n%s", where, questions["block_2"])
			}
		}
		report, err := b.services.Store.Get(t.Context(), storage.ReportKey(id))
		if err != nil {
			t.Fatal(err)
		}
		for _, fact := range []string{"77 metres", "from Larvik"} {
			if !strings.Contains(string(report), fact) {
				t.Errorf("the report does not have %q:\n%s", fact, report)
			}
		}
	})
}
