package jobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"nightdesk/jobs"
	"nightdesk/jobs/digests"
	"nightdesk/pipeline/digest"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/prompts"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// disputing is a model whose review reports that two claims contradict each other. silent: its sections omit one side.
type disputing struct {
	nightModel
	silent bool
}

const (
	operatorSays = "According to its operator, the pump of Alder Harbour reached a coefficient of performance of 3.21 in 2024."
	councilSays  = "The briefing of the council puts the coefficient of performance of the pump of Alder Harbour at 3.60 in 2024."
	whyTheyDo    = "Only the operator counts the electricity of the circulation pumps."
)

func (m *disputing) Generate(_ context.Context, req llm.Request) (llm.Response, error) {
	if m.silent && strings.HasPrefix(req.Position.Step, "author") {
		req.Prompt.User = strings.ReplaceAll(req.Prompt.User, "] "+councilSays, "")
	}
	return m.reply(req, nightSubject, func(step, _ string) any {
		switch step {
		case "decompose":
			return prompts.DecomposeAnswer{SubTopics: []prompts.DecomposedTopic{
				{Title: "Performance of the pump", Overview: "What it reached.", Queries: []string{"coefficient of performance pump Alder Harbour"}},
				{Title: "Staff of the harbour", Overview: "Who works there.", Queries: []string{"people of Alder Harbour"}},
			}}
		case "decide":
			return decideNight(req, "Alder", prompts.Action{ToolType: "rag_hybrid", Query: "pump of Alder Harbour " + req.Position.Block})
		case "note":
			a := prompts.NoteAnswer{Claims: []prompts.NoteClaim{}}
			_, sources, _ := strings.Cut(req.Prompt.User, "Sources:")
			for n, part := range strings.Split(sources, "\nSource ")[1:] {
				for _, s := range []string{operatorSays, councilSays, "Alder Harbour employs 500 people."} {
					if strings.Contains(part, s) {
						a.Claims = append(a.Claims, prompts.NoteClaim{Source: n + 1, Text: s, Quote: s})
					}
				}
			}
			return a
		case "review":
			answer := prompts.ReviewAnswer{}
			number := func(said string) (n int) {
				for line := range strings.Lines(req.Prompt.User) {
					if _, err := fmt.Sscanf(line, "%d: ", &n); err == nil && strings.Contains(line, said) {
						return n
					}
				}
				return 0
			}
			if a, b := number(operatorSays), number(councilSays); a > 0 && b > 0 {
				answer.Contradictions = []prompts.ReviewedPair{{A: a, B: b, Why: whyTheyDo}}
			}
			return answer
		case "outline":
			return outlineNight("The harbour Alder", "How good its pump is", "Who works there")
		}
		return nil
	})
}

// TestConfirmedContradiction: a contradiction confirmed by the review is in the report, its metadata and the digest of
// the batch, with an explanation, and again the next night. If the section omits it, it is shown below the sections.
func TestConfirmedContradiction(t *testing.T) {
	t.Parallel()
	for name, silent := range map[string]bool{"told": false, "passed over": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := &disputing{silent: silent}
			b := setup(t, redistest.Server(t), model)
			dir := t.TempDir()
			for name, text := range map[string]string{
				"operator.md": "# Report of the operator\n\n" + operatorSays + "\n", "council.md": "# Briefing\n\n" + councilSays + "\n",
				"staff.md": "# Staff\n\nAlder Harbour employs 500 people.\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			version, base := publishBase(t, b.services.Store, dir)
			b.services.Toolbox = func(context.Context, topicqueue.Run) (jobs.Toolbox, error) {
				return jobs.Toolbox{Tools: tools.Set{tools.NewRAGHybrid(base, 6)}, Sections: base, Documents: base}, nil
			}
			n := &nights{bench: b, model: &model.nightModel, subjects: []string{"Alder"}}
			for number := 1; number <= 2; number++ {
				r := n.nightOf(number, func(o *topicqueue.Options) {
					o.KnowledgeBase, o.KnowledgeVersion, o.Tools, o.QueueMaxLength = "kb", version, []string{"rag_hybrid"}, 4
				})["Alder"]
				for _, said := range []string{operatorSays, councilSays} {
					if !strings.Contains(r.markdown, strings.TrimSuffix(said, ".")) {
						t.Errorf("night %d: the report lacks %q:\n%s", number, said, r.markdown)
					}
				}
				if below := strings.Contains(r.markdown, "## Where sources disagree\n"); below != silent {
					t.Errorf("night %d: told below the sections: %v\n%s", number, below, r.markdown)
				}
				var meta struct{ Contradictions []evidence.Contradiction }
				body, err := b.services.Store.Get(t.Context(), storage.MetadataKey(r.run.ID))
				if err != nil || json.Unmarshal(body, &meta) != nil || len(meta.Contradictions) != 1 || meta.Contradictions[0].Why != whyTheyDo {
					t.Fatalf("night %d: %v, %+v", number, err, meta)
				}
				if number == 2 && (r.calls > 0 || !r.changes.None()) {
					t.Errorf("nothing has changed, but %d calls: %v", r.calls, r.steps)
				}
				d, err := digests.Make(t.Context(), b.services.Queue, b.services.Store, r.run.Batch)
				if err != nil || d.Disagree.Total != 1 {
					t.Fatalf("night %d: %v, %+v", number, err, d.Disagree)
				}
				item := d.Disagree.Items[0]
				if item.Kind != digest.KindContradiction || item.Text != whyTheyDo || !reflect.DeepEqual(item.Sides, []string{operatorSays, councilSays}) {
					t.Errorf("night %d: %+v", number, item)
				}
			}
		})
	}
}

// TestReviewOfTheNextNight: a night with changes is reviewed once. It finds contradictions with new documents and drops
// contradictions with removed ones. A night without changes has no review.
func TestReviewOfTheNextNight(t *testing.T) {
	t.Parallel()
	model := &disputing{}
	b := setup(t, redistest.Server(t), model)
	dir, published := t.TempDir(), map[string]*knowledge.Base{}
	b.services.Toolbox = func(_ context.Context, run topicqueue.Run) (jobs.Toolbox, error) {
		base := published[run.Options.KnowledgeVersion]
		return jobs.Toolbox{Tools: tools.Set{tools.NewRAGHybrid(base, 6)}, Sections: base, Documents: base}, nil
	}
	n := &nights{bench: b, model: &model.nightModel, subjects: []string{"Alder"}}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("operator.md", "# Report of the operator\n\n"+operatorSays+"\n")
	write("staff.md", "# Staff\n\nAlder Harbour employs 500 people.\n")
	for i, night := range []struct {
		edit             func()
		reviews, dispute int
	}{
		{func() {}, 1, 0},
		{func() { write("council.md", "# Briefing\n\n"+councilSays+"\n") }, 1, 1},
		{func() {}, 0, 1},
		{func() { _ = os.Remove(filepath.Join(dir, "council.md")) }, 1, 0},
	} {
		night.edit()
		version, base := publishBase(t, b.services.Store, dir)
		published[version] = base
		r := n.nightOf(i+1, func(o *topicqueue.Options) {
			o.KnowledgeBase, o.KnowledgeVersion, o.Tools, o.QueueMaxLength = "kb", version, []string{"rag_hybrid"}, 4
		})["Alder"]
		var meta struct{ Contradictions []evidence.Contradiction }
		body, err := b.services.Store.Get(t.Context(), storage.MetadataKey(r.run.ID))
		if err != nil || json.Unmarshal(body, &meta) != nil || len(meta.Contradictions) != night.dispute {
			t.Errorf("night %d: %v, %+v, want %d", i+1, err, meta, night.dispute)
		}
		if r.steps["review"] != night.reviews {
			t.Errorf("night %d: %v, want %d reviews", i+1, r.steps, night.reviews)
		}
		if r.steps["note"] > 1 || r.steps["decide"]+r.steps["queries"] > 0 { // the small collection is read whole
			t.Errorf("night %d: %v", i+1, r.steps)
		}
	}
}

// unread is a model that records the questions of its reviews.
type unread struct {
	disputing
	mu    sync.Mutex
	asked string
}

func (m *unread) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	if strings.HasPrefix(req.Position.Step, "review") {
		m.mu.Lock()
		m.asked += req.Prompt.User
		m.mu.Unlock()
	}
	return m.disputing.Generate(ctx, req)
}

// TestReviewNamesUnreadDocuments: the first review of a run over a small knowledge base lists the documents that no
// search has returned.
func TestReviewNamesUnreadDocuments(t *testing.T) {
	t.Parallel()
	model := &unread{}
	b := setup(t, redistest.Server(t), model)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"operator.md": "# Report of the operator\n\n" + operatorSays + "\n",
		"staff.md":    "# Staff\n\nAlder Harbour employs 500 people.\n",
		"letter.md":   "# A letter of the anglers\n\nDear Sirs, trout are scarce.\n",
		"ropes.md":    "# Ropes\n\n" + strings.Repeat("A rope of hemp is kept dry and dark.\n\n", 2000), // too much to read whole
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	version, base := publishBase(t, b.services.Store, dir)
	b.services.Toolbox = func(context.Context, topicqueue.Run) (jobs.Toolbox, error) {
		return jobs.Toolbox{Tools: tools.Set{tools.NewRAGHybrid(base, 6)}, Sections: base, Documents: base}, nil
	}
	n := &nights{bench: b, model: &model.nightModel, subjects: []string{"Alder"}}
	n.nightOf(1, func(o *topicqueue.Options) {
		o.KnowledgeBase, o.KnowledgeVersion, o.Tools, o.QueueMaxLength = "kb", version, []string{"rag_hybrid"}, 4
	})
	model.mu.Lock()
	defer model.mu.Unlock()
	letter := strings.Contains(model.asked, "- A letter of the anglers, letter.md: ")
	if !letter || strings.Contains(model.asked, "- Staff, ") {
		t.Errorf("the letter alone is unread, but the question is\n%s", model.asked)
	}
}
