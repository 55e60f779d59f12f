package reporting_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/reporting"
	"nightdesk/pipeline/reporting/reportingtest"
	"nightdesk/topicqueue"
)

// recorder keeps the events that a reporter sends.
type recorder struct{ steps []string }

func (r *recorder) emit(_ context.Context, events ...topicqueue.Event) error {
	for _, e := range events {
		var step topicqueue.PipelineStep
		if err := json.Unmarshal(e.Content, &step); err != nil || e.Status != topicqueue.StatusPipelineStep {
			return fmt.Errorf("unexpected event %+v: %w", e, err)
		}
		r.steps = append(r.steps, step.StepKey)
	}
	return nil
}

func TestEvents(t *testing.T) {
	t.Parallel()
	var r recorder
	report, err := (&reporting.Reporter{Emit: r.emit}).Report(t.Context(), evidence(t, ""))
	if err != nil || report.Info == "" {
		t.Fatalf("info %q, %v", report.Info, err)
	}
	if diff := cmp.Diff([]string{topicqueue.StepStartAuthor}, r.steps); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNoEvidence(t *testing.T) {
	t.Parallel()
	in := evidence(t, "")
	for i := range in.Blocks {
		for j := range in.Blocks[i].Traces {
			in.Blocks[i].Traces[j].Claims = nil
		}
	}
	var r recorder
	_, err := (&reporting.Reporter{Emit: r.emit}).Report(t.Context(), in)
	if !errors.Is(err, reporting.ErrNoEvidence) {
		t.Errorf("error %v, want ErrNoEvidence", err)
	}
	if len(r.steps) > 0 {
		t.Errorf("steps %q of a report that is not written", r.steps)
	}
	if _, err := (&reporting.Reporter{}).Report(t.Context(), reporting.Input{}); !errors.Is(err, reporting.ErrNoEvidence) {
		t.Errorf("empty input: error %v, want ErrNoEvidence", err)
	}
}

func TestPlanningIsTheLastEvidence(t *testing.T) {
	t.Parallel()
	in := evidence(t, "")
	in.Blocks = in.Blocks[4:]
	in.Plan.Traces = []topicqueue.ToolTrace{found(t, "PLAN-01", "topic", 3, "With synchronous replication a commit waits until one standby has confirmed it.")}
	got, err := (&reporting.Reporter{}).Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.Markdown, "Standby servers\n\nWith synchronous") || len(got.Gaps) != 2 {
		t.Errorf("gaps %v, report:\n%s", got.Gaps, got.Markdown)
	}
}

func TestCancellation(t *testing.T) {
	t.Parallel()
	cause := errors.New("the lease is lost")
	for _, step := range []string{"outline", "author"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			var r recorder
			model := modelFunc(func(req llm.Request) (string, error) {
				if req.Prompt.Name == step {
					cancel(cause)
					return "", context.Canceled
				}
				return writer(req)
			})
			_, err := (&reporting.Reporter{Model: model, Emit: r.emit}).Report(ctx, evidence(t, ""))
			if !errors.Is(err, cause) {
				t.Errorf("error %v, want the cause of the end", err)
			}
			if len(r.steps) != 1 {
				t.Errorf("events %v after the end", r.steps)
			}
		})
	}
}

func TestEmitError(t *testing.T) {
	t.Parallel()
	lost := errors.New("fenced")
	_, err := (&reporting.Reporter{Emit: func(context.Context, ...topicqueue.Event) error { return lost }}).Report(t.Context(), evidence(t, ""))
	if !errors.Is(err, lost) {
		t.Errorf("error %v, want that of Emit", err)
	}
}

// TestUnusableSections gives one section answers that are no section; the others must not suffer.
func TestUnusableSections(t *testing.T) {
	t.Parallel()
	good := "The log is appended to [CIT-1-01]."
	for name, tt := range map[string]struct {
		answers []string
		errs    []error
		want    string // in the report
		local   bool
		calls   int
	}{
		"second answer":    {answers: []string{"", good}, want: "The log is appended to [[CIT-1-01]", calls: 2},
		"marks":            {answers: []string{"<material-7935828d>\nThe <topic-194b7f15>log is appended to [CIT-1-01].\n</material-7935828d>"}, want: "The log is appended to [[CIT-1-01]", calls: 1},
		"refusal":          {answers: []string{"I'm sorry, I can't help with that.", good}, want: "The log is appended", calls: 2},
		"no citation":      {answers: []string{"Logs are good.", good}, want: "The log is appended", calls: 2},
		"foreign citation": {answers: []string{"Logs are good [CIT-8-01].", "Logs are good [CIT-8-02]."}, want: "The write-ahead log is a file to which", local: true, calls: 2},
		"JSON":             {answers: []string{`{"text": "x"}`, `{"text": "x"}`}, want: "The write-ahead log is a file to which", local: true, calls: 2},
		"server":           {errs: []error{nil, llm.ErrUnavailable}, answers: []string{"", ""}, want: "The write-ahead log is a file to which", local: true, calls: 2},
		"bad key":          {errs: []error{nil, llm.ErrPermanent}, answers: []string{"", ""}, want: "The write-ahead log is a file to which", local: true, calls: 2},
		"only a heading":   {answers: []string{"## The log", "# The log\n\n## References\n\nx"}, want: "The write-ahead log is a file to which", local: true, calls: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			calls := 0
			positions := map[llm.Position]bool{}
			model := modelFunc(func(req llm.Request) (string, error) {
				mu.Lock()
				defer mu.Unlock()
				if positions[req.Position] {
					t.Errorf("position %+v is used twice", req.Position)
				}
				positions[req.Position] = true
				if req.Prompt.Name != "author" || !strings.Contains(req.Prompt.User, `section "The log"`) {
					return writer(req)
				}
				calls++
				if calls > len(tt.answers) {
					t.Errorf("call %d", calls)
					return "", errors.New("too many calls")
				}
				if calls <= len(tt.errs) && tt.errs[calls-1] != nil {
					return "", tt.errs[calls-1]
				}
				return authored(req, func(title string) string {
					if title == "The log" {
						return tt.answers[calls-1]
					}
					return section(title)
				}), nil
			})
			in := evidence(t, topicqueue.CitationAnchors)
			got, err := (&reporting.Reporter{Model: model, Parallel: 3}).Report(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(got.Markdown, tt.want) || calls != tt.calls {
				t.Errorf("%d calls, want %d; no %q in\n%s", calls, tt.calls, tt.want, got.Markdown)
			}
			if (len(got.Fallbacks) == 1) != tt.local || len(got.Fallbacks) > 1 {
				t.Errorf("fallbacks %q", got.Fallbacks)
			}
			checkStructure(t, in, got, topicqueue.CitationAnchors)
		})
	}
}

// TestModelSeesItsOwnClaims: where one call cannot write all, a section gets the claims of its blocks, merged ones
// included, and no others; opening and conclusion get what the sections cite.
func TestModelSeesItsOwnClaims(t *testing.T) {
	t.Parallel()
	check := func(req llm.Request, with, without []string) {
		for _, id := range with {
			if !strings.Contains(req.Prompt.User, "["+id+"]") {
				t.Errorf("%s %d lacks %s", req.Prompt.Name, req.Position.Ordinal, id)
			}
		}
		for _, id := range without {
			if strings.Contains(req.Prompt.User, "["+id+"]") {
				t.Errorf("%s %d has %s", req.Prompt.Name, req.Position.Ordinal, id)
			}
		}
	}
	model := modelFunc(func(req llm.Request) (string, error) {
		switch {
		case req.Prompt.Name != "author":
		case req.Position.Ordinal == 0:
			return "", fmt.Errorf("%w: %w", llm.ErrPermanent, llm.ErrContextLength)
		case req.Position.Ordinal == 1:
			check(req, []string{"CIT-1-01", "CIT-2-03"}, []string{"CIT-4-01", "CIT-2-02"})
		case req.Position.Ordinal == 2:
			check(req, []string{"CIT-1-01", "CIT-1-02"}, []string{"CIT-2-01", "CIT-3-01"})
		case req.Position.Ordinal == 3:
			check(req, []string{"CIT-2-01", "CIT-2-03"}, []string{"CIT-1-01"})
		}
		return writer(req)
	})
	got, err := (&reporting.Reporter{Model: model}).Report(t.Context(), evidence(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	want := []reporting.OutlineSection{
		{Title: "The log", BlockIDs: []string{"block_1", "block_3"}}, {Title: "Copies on other machines", BlockIDs: []string{"block_2", "block_4"}},
		{Title: "Power loss and disk caches", BlockIDs: []string{"block_3"}},
	}
	for i, s := range got.Outline.Sections {
		if diff := cmp.Diff(want[i].BlockIDs, s.BlockIDs); diff != "" || s.Title != want[i].Title {
			t.Errorf("section %q (-want +got):\n%s", s.Title, diff)
		}
	}
}

// TestRunawayText: what a weak model says over and over stands in the report once, and an introduction whose citations
// are all invented does not stand there at all.
func TestRunawayText(t *testing.T) {
	t.Parallel()
	const again = "The log keeps every change of every page that the server has altered"
	for name, tt := range map[string]struct {
		ids   func(i int) string
		times int
	}{
		"cited":    {func(int) string { return "[CIT-1-01]" }, 1},
		"invented": {func(i int) string { return fmt.Sprintf("[CIT-%d-02]", 20+i) }, 0},
	} {
		model := modelFunc(func(req llm.Request) (string, error) {
			if req.Prompt.Name != "author" {
				return writer(req)
			}
			var b strings.Builder
			for i := range 30 {
				fmt.Fprintf(&b, "%s %s.\n\n", tt.ids(i), again)
			}
			return authored(req, func(title string) string {
				if title == "opening" {
					return b.String()
				}
				return section(title)
			}), nil
		})
		got, err := (&reporting.Reporter{Model: model}).Report(t.Context(), evidence(t, ""))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(got.Markdown, again); n != tt.times {
			t.Errorf("%s: the sentence stands there %d times, want %d:\n%s", name, n, tt.times, got.Markdown)
		}
		if fell := slices.Contains(got.Fallbacks, "introduction"); fell != (tt.times == 0) {
			t.Errorf("%s: fallbacks %q", name, got.Fallbacks)
		}
	}
}

func TestChineseFrame(t *testing.T) {
	t.Parallel()
	in := evidence(t, "")
	in.Run.Options.Language = "zh-CN"
	got, err := (&reporting.Reporter{}).Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"未经模型判断", "## 最相关的段落", "## 未覆盖的内容", "研究失败（the search server refused every call）", "## 参考文献", "*本报告的生成方式"} {
		if !strings.Contains(got.Markdown, want) {
			t.Errorf("no %q in\n%s", want, got.Markdown)
		}
	}
	for _, v := range reportingtest.CheckVerbatim(got.Markdown, sourceText(in)) {
		t.Error(v)
	}
}

// TestUnfinishedBlock: evidence of a block that failed later is used, and the report says that there is no more.
func TestUnfinishedBlock(t *testing.T) {
	t.Parallel()
	in := evidence(t, "")
	in.Blocks[0].Block.Status = topicqueue.BlockFailed
	in.Blocks[0].Block.Reason = "out of time."
	got, err := (&reporting.Reporter{}).Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.Markdown, "- **Write-ahead log and recovery**: "+got.Gaps[0].Reason) || !strings.Contains(got.Gaps[0].Reason, "out of time") || !strings.Contains(got.Markdown, "The write-ahead log is a file") {
		t.Error(got.Markdown)
	}
}

func TestSameEvidenceSameReport(t *testing.T) {
	t.Parallel()
	for _, model := range []llm.Model{nil, modelFunc(writer)} {
		first, err := (&reporting.Reporter{Model: model, Parallel: 1}).Report(t.Context(), evidence(t, ""))
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			again, err := (&reporting.Reporter{Model: model, Parallel: 8}).Report(t.Context(), evidence(t, ""))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(first, again, cmpopts.IgnoreFields(reporting.Report{}, "Moments")); diff != "" {
				t.Fatalf("(-first +again):\n%s", diff)
			}
		}
	}
}

func BenchmarkExtractiveReport(b *testing.B) {
	in := evidence(b, "")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (&reporting.Reporter{}).Report(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSectionInParts has a window that takes two claims at most: all of them are written all the same.
func TestSectionInParts(t *testing.T) {
	t.Parallel()
	id := regexp.MustCompile(`\[(CIT-1-\d+)\]`)
	var mu sync.Mutex
	shown := map[string]bool{}
	model := modelFunc(func(req llm.Request) (string, error) {
		if req.Prompt.Name != "author" || !strings.Contains(req.Prompt.User, `section "The log"`) {
			return writer(req)
		}
		_, claims, _ := strings.Cut(req.Prompt.User, "Claims:")
		claims, _, _ = strings.Cut(claims, "</material")
		ids := id.FindAllString(claims, -1)
		if len(ids) > 2 {
			return "", fmt.Errorf("%w: %w", llm.ErrPermanent, llm.ErrContextLength)
		}
		mu.Lock()
		defer mu.Unlock()
		text := ""
		for i, id := range ids {
			shown[id] = true
			text += fmt.Sprintf("Part with claim %d of %d says something of its own %s. ", i+len(shown), len(claims), id)
		}
		return text, nil
	})
	in := evidence(t, topicqueue.CitationAnchors)
	got, err := (&reporting.Reporter{Model: model, Parallel: 3}).Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	roomy, err := (&reporting.Reporter{Model: modelFunc(writer), Parallel: 3}).Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Fallbacks) > 0 || len(shown) < 2 || got.Statistics.ClaimsLeftOut != roomy.Statistics.ClaimsLeftOut {
		t.Errorf("fallbacks %q, %d citations shown, %d claims left out, %d with a large window",
			got.Fallbacks, len(shown), got.Statistics.ClaimsLeftOut, roomy.Statistics.ClaimsLeftOut)
	}
	for id := range shown {
		if !strings.Contains(got.Markdown, id+"(#ref-") {
			t.Errorf("%s is not in the report", id)
		}
	}
	checkStructure(t, in, got, topicqueue.CitationAnchors)
}

// What the review says to stay open is told to the writers of introduction and conclusion, beside what blocks have
// not found.
func TestReviewedOpen(t *testing.T) {
	t.Parallel()
	in := evidence(t, "")
	in.Review = topicqueue.Review{Blocks: []string{"block_1"}, Open: []string{"How long a rebuild takes is not known."}}
	asked := map[string]string{}
	var mu sync.Mutex
	_, err := (&reporting.Reporter{Model: modelFunc(func(req llm.Request) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[req.Prompt.Name] = req.Prompt.User
		return writer(req)
	})}).Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	_, open, _ := strings.Cut(asked["author"], "What stayed open")
	for _, want := range []string{in.Review.Open[0], "Costs of storage"} {
		if !strings.Contains(open, want) {
			t.Errorf("the writer of the conclusion is not told that %q is open: %q", want, open)
		}
	}
}

// Where the review was not made, the writer of the conclusion is told what each block called missing.
func TestOpenWithoutReview(t *testing.T) {
	t.Parallel()
	in := evidence(t, "")
	in.Blocks = slices.DeleteFunc(in.Blocks, func(b reporting.BlockEvidence) bool { return b.Block.Status != topicqueue.BlockCompleted })
	in.Review = topicqueue.Review{NotDone: "the time was over"}
	in.Blocks[0].Block.Open = "The time of recovery is known. How long a rebuild takes is missing."
	asked := ""
	_, err := (&reporting.Reporter{Parallel: 1, Model: modelFunc(func(req llm.Request) (string, error) {
		if req.Prompt.Name == "author" {
			asked = req.Prompt.User
		}
		return writer(req)
	})}).Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if _, open, _ := strings.Cut(asked, "What stayed open"); !strings.Contains(open,
		": "+in.Blocks[0].Block.Open) {
		t.Errorf("%s", open)
	}
}
