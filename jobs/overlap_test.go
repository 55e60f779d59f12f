package jobs_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/jobs"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/tools"
	"nightdesk/prompts"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// TestOverlappingTopics: in a batch of overlapping topics, every page is fetched once and every search is made once.
// Each report is the same as if its run had searched alone.
func TestOverlappingTopics(t *testing.T) {
	if !scaletest.Race { // many runs at a time
		scaletest.Slow(t)
	}
	t.Parallel()
	quotes := map[bool]map[string][]string{}
	for _, sharing := range []bool{true, false} {
		n := newNights(t, scaletest.Of(3, 10), false)
		if !sharing {
			n.services.Shared = nil
		}
		subjects := n.subjects
		n.subjects = nil
		for view := range scaletest.Of(3, 5) {
			for _, subject := range subjects {
				n.subjects = append(n.subjects, fmt.Sprintf("%s Harbour, part %d, with all of %s", subject, view+1, subject))
			}
		}
		quotes[sharing] = map[string][]string{}
		for topic, r := range n.nightOf(1, func(o *topicqueue.Options) {
			o.Incremental, o.MaxParallel = false, 1 // blocks side by side ask for what the other has not asked for yet
		}) {
			for quote := range r.quotes {
				quotes[sharing][topic] = append(quotes[sharing][topic], quote)
			}
			slices.Sort(quotes[sharing][topic])
		}
		counts := n.corpus.Counts()
		most := 0
		for _, asked := range []map[string]int{counts.Fetched, counts.Searched} {
			for what, times := range asked {
				if most = max(most, times); sharing && times > 1 {
					t.Errorf("%s was asked for %d times", what, times)
				}
			}
		}
		if !sharing && most < 2 {
			t.Error("the topics do not overlap")
		}
		t.Logf("sharing %v: %d pages and %d searches", sharing, sum(counts.Fetched), sum(counts.Searched))
	}
	// Blocks of a run know each other's queries, so their order affects some quotes.
	alone, together, both := 0, 0, 0
	for topic, found := range quotes[false] {
		alone += len(found)
		together += len(quotes[true][topic])
		for _, quote := range found {
			if slices.Contains(quotes[true][topic], quote) {
				both++
			}
		}
	}
	t.Logf("quotes: %d without sharing, %d with it, %d in both", alone, together, both)
	if len(quotes[true]) != len(quotes[false]) || both*100 < alone*98 || together*100 < alone*98 {
		t.Errorf("what is found depends on sharing:\n%s", cmp.Diff(quotes[false], quotes[true]))
	}
}

// TestPrivateBasesAreNotShared: content of a knowledge base reaches only the runs of the batch that name it, even if
// all runs make the same queries.
func TestPrivateBasesAreNotShared(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Server(t), researcher{Model: stubModel(t, &llmtest.Stub{}), noWriter: true, decide: func(_ string, k int, _ string) prompts.DecideAnswer {
		return prompts.DecideAnswer{Reasoning: "look", Actions: []prompts.Action{
			{ToolType: "rag_hybrid", Query: fmt.Sprint("the fee of berth ", k)}, {ToolType: "web_search", Query: fmt.Sprint("the fee of berth ", k)}}}
	}})
	b.shares()
	public := &counted{name: "web_search", answer: func(query string) (string, string) {
		return "https://a.example/" + topicqueue.TextHash(query)[:8], "A page.\nFact on " + query + " that everybody may read.\nThe end."
	}}
	bases := map[string]*counted{}
	for _, name := range []string{"red", "blue"} {
		bases[name] = &counted{name: "rag_hybrid", answer: func(query string) (string, string) {
			return "", "A page.\nFact on " + query + " from the " + name + " base.\nThe end."
		}}
	}
	b.services.Toolbox = func(_ context.Context, run topicqueue.Run) (jobs.Toolbox, error) {
		set := tools.Set{public}
		if base := bases[run.Options.KnowledgeBase]; base != nil {
			set = append(tools.Set{base}, set...)
		}
		return jobs.Toolbox{Tools: set}, nil
	}
	w := b.start(jobs.Settings{})
	defer w.Stop()
	runs := map[string]string{}
	for i, base := range []string{"red", "blue", ""} {
		o := options(1, 3, 1)
		o.KnowledgeBase, o.Tools = base, []string{"rag_hybrid", "web_search"}
		runs[base] = b.enqueue(fmt.Sprintf("What does a berth cost, question %d?", i), o, "")
	}
	for base, id := range runs {
		b.wait(id)
		keys, err := b.services.Store.List(t.Context(), storage.CacheKey(id, ""))
		if err != nil {
			t.Fatal(err)
		}
		own := false
		for _, key := range append(keys, storage.ReportKey(id)) {
			body, err := b.services.Store.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"red", "blue"} {
				if has := strings.Contains(string(body), "from the "+name+" base"); has && name != base {
					t.Errorf("%s of a run with base %q has what base %s says", key, base, name)
				} else if has {
					own = true
				}
			}
		}
		if base != "" && !own {
			t.Errorf("the run with base %s has nothing of it", base)
		}
	}
	slices.Sort(public.calls)
	if len(public.calls) != len(slices.Compact(slices.Clone(public.calls))) { // what is public is shared all the same
		t.Errorf("the web was searched for the same more than once: %q", public.calls)
	}
}
