package jobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"nightdesk/jobs"
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

func (drawingBox) Name() string                { return sandbox.NameWASM }
func (drawingBox) Close(context.Context) error { return nil }
func (drawingBox) Run(context.Context, string) (sandbox.Outcome, error) {
	return sandbox.Outcome{Stdout: printed + "\n", Files: []sandbox.File{{Name: "a.svg", Body: []byte(`<svg><script>1</script><title>Performance by temperature</title></svg>`)}}}, nil
}

// computing is a model that runs a program in every block, notes what it prints, and fails at everything else.
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

// A program's figure is in the bundle, and the report shows it by a path that leads there.
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
	if check, err := jobs.CheckBundle(t.Context(), store, id); err != nil || len(check.Problems) > 0 {
		t.Errorf("%+v, %v", check, err)
	}
	report, err := store.Get(t.Context(), storage.ReportKey(id))
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`(?m)^!\[Performance by temperature\]\((.*)\)$`).FindSubmatch(report)
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
	if page := regexp.MustCompile(`\*\*Output of a Python program\*\*  \n.*\[Mean performance in winter\.\]\((\.\./cache/.*?)\)`).FindSubmatch(report); page == nil {
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
	check, err := jobs.CheckBundle(t.Context(), store, id)
	if text := fmt.Sprint(check.Problems); err != nil || !strings.Contains(text, key+" is missing") || !strings.Contains(text, "figures/other.svg, which the manifest does not have") {
		t.Errorf("%s, %v", text, err)
	}
}
