package jobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nightdesk/jobs"
	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/sandbox"
	"nightdesk/prompts"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// drawingBox is a sandbox in which every program prints a sentence and draws a figure.
type drawingBox struct{}

const printed = "The mean coefficient of performance of heat pumps in winter is 3.15."

func (drawingBox) Run(context.Context, string) (sandbox.Outcome, error) {
	return sandbox.Outcome{Stdout: printed + "\n", Files: []sandbox.File{{Name: "a.svg", Body: []byte(`<svg><script>1</script><title>Performance by temperature</title></svg>`)}}}, nil
}

// computing is a model that runs a program in every block and notes its output. All other calls fail.
type computing struct{}

func (computing) Generate(_ context.Context, req llm.Request) (llm.Response, error) {
	var answer any
	switch req.Prompt.Name {
	case "decide":
		answer = prompts.DecideAnswer{Reasoning: "compute", NewSubTopics: []prompts.NewSubTopic{}, Actions: []prompts.Action{
			{ToolType: "run_code", Query: "print(1)", Rationale: "Mean performance in winter."}, {ToolType: "rag_hybrid", Query: "coefficient of performance"},
		}}
	case "note":
		if strings.Contains(req.Prompt.User, printed) {
			answer = prompts.NoteAnswer{Claims: []prompts.NoteClaim{{Source: 1, Text: "The mean is 3.15.", Quote: printed}}}
		}
	}
	text, err := json.Marshal(answer)
	return llm.Response{Text: string(text)}, err
}

// TestFigureInTheReport: a program's figure is in the bundle, and the report shows it with a valid path.
func TestFigureInTheReport(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.InProcess(t), computing{})
	toolbox := b.services.Toolbox
	b.services.Toolbox = func(ctx context.Context, run topicqueue.Run) (jobs.Toolbox, error) {
		box, err := toolbox(ctx, run)
		box.Tools = append(box.Tools, tools.NewRunCode(drawingBox{}, sandbox.DefaultLimits(time.Minute)))
		return box, err
	}
	o := options(1, 2, 1) // the first iteration asks what the plan has
	o.Tools = []string{"rag_hybrid", "run_code"}
	w := b.start(jobs.Settings{})
	id := b.enqueue(topic, o, "")
	b.wait(id)
	w.Stop()
	store := b.services.Store
	checkBundle(t, store, id)
	if check, err := bundle.Verify(t.Context(), store, id); err != nil || len(check.Problems) > 0 {
		t.Errorf("%+v, %v", check, err)
	}
	report, err := store.Get(t.Context(), storage.ReportKey(id))
	if err != nil {
		t.Fatal(err)
	}
	shown := shownInBundle.FindSubmatch(report)
	if shown == nil {
		t.Fatalf("no figure is shown:\n%s", report)
	}
	key := path.Join(path.Dir(storage.ReportKey(id)), string(shown[1]))
	body, err := store.Get(t.Context(), key)
	if err != nil || !strings.HasPrefix(string(body), "<svg ") || strings.Contains(string(body), "script") {
		t.Errorf("%s: %s, %v", key, body, err)
	}
	manifest, err := store.Get(t.Context(), storage.ManifestKey(id))
	if err != nil || !strings.Contains(string(manifest), `"`+key+`"`) {
		t.Errorf("the manifest lacks %s: %s, %v", key, manifest, err)
	}
	if page := regexp.MustCompile(`\*\*Program output: Mean performance in winter\.\*\*  \n.*\]\((\.\./cache/.*?)\)`).FindSubmatch(report); page == nil {
		t.Errorf("no reference leads to the program:\n%s", report)
	} else if body, err := store.Get(t.Context(), path.Join("reports", string(page[1]))); err != nil || !strings.Contains(string(body), "print(1)") {
		t.Errorf("the reference leads to %q, %v", body, err)
	}
	if err := store.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if err := store.Put(t.Context(), storage.ReportKey(id), append(report, "\n![x](../cache/"+id+"/figures/other.svg)\n"...)); err != nil {
		t.Fatal(err)
	}
	check, err := bundle.Verify(t.Context(), store, id)
	of := func(file string) bool {
		return slices.ContainsFunc(check.Problems, func(p storage.Problem) bool { return p.File == file })
	}
	if err != nil || !of(key) || !of(storage.ReportKey(id)) {
		t.Errorf("%v, %v", check.Problems, err)
	}
}

// drawn is a model with two blocks: one has a program draw a figure, the other reads a number of people.
type drawn struct{ nightModel }

var employs = regexp.MustCompile(`Alder Harbour employs \d+ people\.`)

func (m *drawn) Generate(_ context.Context, req llm.Request) (llm.Response, error) {
	return m.reply(req, nightSubject, func(step, _ string) any {
		switch step {
		case "decompose":
			return prompts.DecomposeAnswer{SubTopics: []prompts.DecomposedTopic{
				{Title: "Performance of the pump", Overview: "What it reached.", Queries: []string{"pump of Alder Harbour"}},
				{Title: "Staff of the harbour", Overview: "Who works there.", Queries: []string{"people of Alder Harbour"}},
			}}
		case "decide":
			if req.Position.Block == "block_1" {
				return decideNight(req, "Alder", prompts.Action{ToolType: "run_code", Query: "print(1)", Rationale: "Mean performance in winter."})
			}
			return decideNight(req, "Alder", prompts.Action{ToolType: "rag_hybrid", Query: "staff of Alder Harbour"})
		case "note":
			a := prompts.NoteAnswer{Claims: []prompts.NoteClaim{}}
			_, sources, _ := strings.Cut(req.Prompt.User, "Sources:")
			for n, part := range strings.Split(sources, "\nSource ")[1:] {
				said := employs.FindString(part)
				if req.Position.Block == "block_1" { // each block notes its own
					if said = ""; strings.Contains(part, printed) {
						said = printed
					}
				}
				if said != "" {
					a.Claims = append(a.Claims, prompts.NoteClaim{Source: n + 1, Text: said, Quote: said})
				}
			}
			return a
		case "outline":
			outline := outlineNight("The harbour Alder", "How good its pump is", "Who works there")
			if m := employed.FindStringSubmatch(req.Prompt.User); m != nil {
				claim, _ := strconv.Atoi(m[1])
				outline.Computations = []prompts.Computation{{What: "Staff of ten such harbours", Expression: "10 * " + m[2],
					Claims: []int{claim}}}
			}
			return outline
		}
		return nil
	})
}

var employed = regexp.MustCompile(`(?m)^(\d+): Alder Harbour employs (\d+) people`)

// TestFigureOfTheLastNight: an updated report has the figure and the computation of the last one in its own valid
// bundle. If a section is rewritten, so are introduction and conclusion. A computation from a claim that has changed is
// gone.
func TestFigureOfTheLastNight(t *testing.T) {
	t.Parallel()
	model := &drawn{}
	b := setup(t, redistest.Server(t), model)
	dir := t.TempDir()
	published := map[string]*knowledge.Base{}
	b.services.Toolbox = func(_ context.Context, run topicqueue.Run) (jobs.Toolbox, error) {
		base := published[run.Options.KnowledgeVersion]
		return jobs.Toolbox{Sections: base, Documents: base, Tools: tools.Set{
			tools.NewRAGHybrid(base, 6), tools.NewRunCode(drawingBox{}, sandbox.DefaultLimits(time.Minute)),
		}}, nil
	}
	n := &nights{bench: b, model: &model.nightModel, subjects: []string{"Alder"}}
	night := func(number, people int) nightReport {
		t.Helper()
		text := fmt.Sprintf("# Staff\n\nAlder Harbour employs %d people. It is a pleasant place.\n", people)
		if err := os.WriteFile(filepath.Join(dir, "staff.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		version, base := publishBase(t, b.services.Store, dir)
		published[version] = base
		r := n.nightOf(number, func(o *topicqueue.Options) { // which checks the bundle
			o.KnowledgeBase, o.KnowledgeVersion, o.Tools = "kb", version, []string{"rag_hybrid", "run_code"}
		})["Alder"]
		shown := shownInBundle.FindStringSubmatch(r.markdown)
		if shown == nil || !strings.Contains(shown[1], r.run.ID) {
			t.Fatalf("night %d shows no figure of its own:\n%s", number, r.markdown)
		}
		if _, err := b.services.Store.Get(t.Context(), path.Join("reports", shown[1])); err != nil {
			t.Errorf("night %d: %v", number, err)
		}
		return r
	}
	for number := 1; number <= 2; number++ {
		r := night(number, 500)
		if !strings.Contains(r.markdown, "Staff of ten such harbours: 10 * 500 = 5000 [[CIT-900-01]") || number == 2 && r.calls > 0 {
			t.Errorf("night %d: %v\n%s", number, r.steps, r.markdown)
		}
	}
	second := night(3, 620)
	if strings.Contains(second.markdown, "CIT-900") {
		t.Error(second.markdown)
	}
	_, rest, _ := strings.Cut(second.markdown, "\n---\n")
	introduction, rest, _ := strings.Cut(rest, "\n## ")
	_, conclusion, _ := strings.Cut(rest, "## Conclusion")
	conclusion, _, _ = strings.Cut(conclusion, "\n## ")
	for part, text := range map[string]string{"introduction": introduction, "conclusion": conclusion} {
		if !strings.Contains(text, "620") || strings.Contains(text, "500") {
			t.Errorf("the %s is not written anew: %q", part, text)
		}
	}
	if second.steps["author"] != 1 || len(second.changes.Changed) != 1 {
		t.Errorf("%v, %+v", second.steps, second.changes)
	}
	if third := night(4, 620); third.calls > 0 || !third.changes.None() {
		t.Errorf("%v, %+v", third.steps, third.changes)
	}
}

var shownInBundle = regexp.MustCompile(`(?m)^!\[Performance by temperature\]\((.*)\)$`)
