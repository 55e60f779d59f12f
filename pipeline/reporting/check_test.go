package reporting_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/citation/verification"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/reporting"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/scaletest"
)

// logModel writes this text as the section on the log, and has no judge.
func logModel(text string) modelFunc {
	return judgedModel(text, func(llm.Request) (string, error) { return "", errors.New("connection refused") })
}

// judgedModel is logModel with a judge.
func judgedModel(text string, judge func(req llm.Request) (string, error)) modelFunc {
	return func(req llm.Request) (string, error) {
		switch {
		case req.Prompt.Name == "judge":
			return judge(req)
		case req.Prompt.Name == "author":
			return authored(req, func(title string) string {
				if title == "The log" {
					return text
				}
				return section(title)
			}), nil
		}
		return writer(req)
	}
}

var (
	askedSentence = regexp.MustCompile(`(?m)^Sentence (\d+): (.*)$`)
	sourceMark    = regexp.MustCompile(` ?\{\d+\}`)
)

// askedSentences returns the numbers and the texts, without citations, of the sentences that a judge is asked about.
func askedSentences(req llm.Request) [][]string {
	return askedSentence.FindAllStringSubmatch(sourceMark.ReplaceAllString(req.Prompt.User, ""), -1)
}

// verdicts is a judge that says this of the sentences that begin so, and nothing of the others. Places are given by
// their words.
func verdicts(of map[string]prompts.JudgeFinding) func(llm.Request) (string, error) {
	return func(req llm.Request) (string, error) {
		answer := prompts.JudgeAnswer{Findings: []prompts.JudgeFinding{}}
		for _, m := range askedSentences(req) {
			for beginning, f := range of {
				if strings.HasPrefix(m[2], beginning) {
					f.Sentence, _ = strconv.Atoi(m[1])
					places := []string{}
					for _, words := range f.Places {
						places = append(places, llmtest.PlaceOf(req.Prompt.User, words))
					}
					f.Places = places
					answer.Findings = append(answer.Findings, f)
				}
			}
		}
		body, err := json.Marshal(answer)
		return string(body), err
	}
}

// find returns the checked sentence that begins like this.
func find(t *testing.T, r reporting.Report, beginning string) checking.Sentence {
	t.Helper()
	for _, s := range r.Verification.Sentences {
		if strings.HasPrefix(s.Text, beginning) {
			return s
		}
	}
	t.Fatalf("no sentence %q in %+v", beginning, r.Verification.Sentences)
	return checking.Sentence{}
}

const (
	rightLog = "Recovery of a log of 16 MB took 0.4 seconds [CIT-1-01]."
	wrongLog = "The checkpoint interval defaults to 900 seconds [CIT-1-02]."
)

func TestUnsupported(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text   string
		option string
		says   string   // the judge's correction; empty: there is no judge
		words  string   // that the judge points to
		want   []string // in the report
		not    []string
		action string

		refused string // why the correction is not taken
	}{
		"marked": {
			text: rightLog + " " + wrongLog, action: checking.ActionMarked,
			want: []string{`defaults to 900 seconds [[CIT-1-02](#ref-cit-1-02)]. \[unsupported\]`},
		},
		"removed": {
			text: rightLog + " " + wrongLog + " Recovery reads the log from the last checkpoint [CIT-1-01].", option: topicqueue.UnsupportedRemove, action: checking.ActionRemoved,
			want: []string{"0.4 seconds [[CIT-1-01](#ref-cit-1-01)]. Recovery reads the log from the last checkpoint [[CIT-1-01](#ref-cit-1-01)]"}, not: []string{"900"},
		},
		"removed item": {
			text: "The tests say:\n\n- " + rightLog + "\n- " + wrongLog, option: topicqueue.UnsupportedRemove, action: checking.ActionRemoved,
			want: []string{"- Recovery of a log of 16 MB"}, not: []string{"900", "- \n", "\n-\n"},
		},
		"marked row": {
			text: "| Setting | Default |\n|---|---|\n| checkpoint interval | 900 seconds [CIT-1-02] |\n\n" + rightLog, action: checking.ActionMarked,
			want: []string{`| checkpoint interval | 900 seconds [[CIT-1-02](#ref-cit-1-02)] \[unsupported\] |`},
		},
		"corrected": {
			text: rightLog + " " + wrongLog, action: checking.ActionRepaired,
			says: "The checkpoint interval defaults to 300 seconds.", words: "checkpoint_interval defaults to 300 seconds",
			want: []string{"defaults to 300 seconds [[CIT-1-02]"}, not: []string{"900", "unsupported"},
		},
		"corrected with a figure that the program does not find": {
			text: rightLog + " " + wrongLog, action: checking.ActionRepaired,
			says: "The checkpoint interval defaults to 15 quarters of a minute [CIT-1-02].", words: "checkpoint_interval defaults to 300 seconds",
			want: []string{"15 quarters of a minute [[CIT-1-02]"}, not: []string{"900", "unsupported"},
		},
		"corrected wrongly": {
			text: rightLog + " " + wrongLog, action: checking.ActionMarked,
			says: "The checkpoint interval defaults to 600 seconds.",
			want: []string{`900 seconds [[CIT-1-02](#ref-cit-1-02)]. \[unsupported\]`}, not: []string{"600"},
			refused: checking.RefusedFigure +
				"The checkpoint interval defaults to 600 seconds.",
		},
		"corrected from nothing": {
			text: rightLog + " " + wrongLog, action: checking.ActionMarked,
			says: "The checkpoint interval defaults to 300 seconds [CIT-1-02]. Oracle was founded in 1977.",
			want: []string{`\[unsupported\]`}, not: []string{"Oracle"},
			refused: checking.RefusedUncited + "Oracle was founded in 1977.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := evidence(t, topicqueue.CitationAnchors)
			in.Run.Options.OnUnsupported = tt.option
			model := logModel(tt.text)
			if tt.says != "" {
				model = judgedModel(tt.text, verdicts(map[string]prompts.JudgeFinding{"The checkpoint interval defaults to 900": {
					Places: []string{tt.words}, Wrong: "It is 300.", Verdict: "contradicted", Text: tt.says}}))
			}
			got, err := (&reporting.Reporter{Model: model, Now: now}).Report(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range tt.want {
				if !strings.Contains(got.Markdown, part) {
					t.Errorf("no %q in\n%s", part, got.Markdown)
				}
			}
			for _, part := range tt.not {
				if strings.Contains(got.Markdown, part) {
					t.Errorf("%q in\n%s", part, got.Markdown)
				}
			}
			beginning := "The checkpoint"
			if strings.HasPrefix(name, "marked row") { // rows are not corrected
				beginning = "checkpoint interval"
			} else if tt.says == "" && tt.refused == "" {
				tt.refused = checking.RefusedMissing
			}
			count := got.Verification.Counts
			if refused := tt.says != "" && tt.refused != ""; (count.Refused == 1) != refused {
				t.Errorf("%d corrections refused", count.Refused)
			}
			if n := map[string]int{checking.ActionMarked: count.Marked, checking.ActionRemoved: count.Removed,
				checking.ActionRepaired: count.Repaired}[tt.action]; n != 1 {
				t.Errorf("%d sentences %s", n, tt.action)
			}
			if s := find(t, got, beginning); s.Action != tt.action || tt.refused != "" && s.Refused != tt.refused {
				t.Errorf("%+v", s)
			}
			if len(got.Fallbacks) > 0 {
				t.Errorf("fallbacks %q", got.Fallbacks)
			}
			checkStructure(t, in, got, topicqueue.CitationAnchors)
			if wrong, _ := got.Verification.Recheck(sources(in), sourceOf(in)); len(wrong) > 0 {
				t.Errorf("sentences %v are judged otherwise the second time", wrong)
			}
			got.Verification.Sentences[1].Verdict = "supported "
			got.Verification.Sentences[2].Start++
			if wrong, _ := got.Verification.Recheck(sources(in), sourceOf(in)); !slices.Equal(wrong, []int{1, 2}) {
				t.Errorf("of two changed sentences, %v are seen", wrong)
			}
			got.Verification.Sentences[1].Rules = support.Rules + 1
			if wrong, otherwise := got.Verification.Recheck(sources(in), sourceOf(in)); !slices.Equal(wrong, []int{2}) || otherwise != 1 {
				t.Errorf("of a sentence that other rules have judged: %v are wrong, %d otherwise", wrong, otherwise)
			}
		})
	}
}

// TestCitationsBeforeWords: a sentence whose sources lack something keeps its words. It gets the citations of the
// places that the judge finds, which may replace its own; one of which nothing is found is marked.
func TestCitationsBeforeWords(t *testing.T) {
	t.Parallel()
	const power, recovery = "CIT-3-01", "Recovery of a log of 16 MB took 0.4 seconds in the tests of version 3.2."
	for name, tt := range map[string]struct {
		text    string
		places  []string
		verdict string
		cites   []string // afterwards
		want    support.Result
		action  string
	}{
		"a figure of another claim": {"Recovery took 0.4 seconds at an interval of 300 seconds [CIT-1-01].",
			[]string{recovery, "checkpoint_interval defaults to 300 seconds"}, "supported",
			[]string{"CIT-1-01", "CIT-1-02"}, support.Supported, checking.ActionCited},
		"a computed one without citation": {"An interval is 750 times the recovery of 0.4 seconds.\n\nEvery change is appended to the log [CIT-1-01].",
			[]string{recovery, "checkpoint_interval defaults to 300 seconds"}, "supported",
			[]string{"CIT-1-01", "CIT-1-02"}, support.Supported, checking.ActionCited},
		"the wrong citation": {"Recovery took 0.4 seconds for 16 MB [" + power + "].", []string{recovery}, "supported",
			[]string{"CIT-1-01"}, support.Supported, checking.ActionCited},
		"a row": {"| Case | Recovery | Interval |\n|---|---|---|\n| log | 0.4 seconds | 300 seconds [CIT-1-01] |",
			[]string{recovery, "checkpoint_interval defaults to 300 seconds"}, "supported",
			[]string{"CIT-1-01", "CIT-1-02"}, support.Supported, checking.ActionCited},
		"a comparison with nothing to name": {"Recovery in 0.4 seconds is quick beside a standby [CIT-1-01].", nil, "partly",
			[]string{"CIT-1-01"}, support.Unverified, checking.ActionKept},
		"a figure of no claim": {"Recovery took 0.4 seconds in 71 tests [CIT-1-01].", nil, "partly",
			[]string{"CIT-1-01"}, support.Unsupported, checking.ActionMarked},
		"an uncited fact of no claim": {"Recovery took 0.4 seconds in 71 tests.\n\nEvery change is appended to the log [CIT-1-01].", nil, "not_in_source", nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := evidence(t, topicqueue.CitationAnchors)
			calls := 0
			judge := func(req llm.Request) (string, error) {
				calls++
				of := map[string]prompts.JudgeFinding{}
				for _, m := range askedSentences(req) {
					if strings.Contains(m[2], "0.4") {
						of[m[2]] = prompts.JudgeFinding{Verdict: tt.verdict, Places: tt.places, Wrong: "A part is not there."}
					}
				}
				return verdicts(of)(req)
			}
			got, err := (&reporting.Reporter{Model: judgedModel(tt.text, judge), Now: now}).Report(t.Context(), in)
			if err != nil || calls != 1 {
				t.Fatal(calls, err)
			}
			at := slices.IndexFunc(got.Verification.Sentences, func(s checking.Sentence) bool {
				return s.Section == "The log" && strings.Contains(s.Text, "0.4 seconds")
			})
			if tt.cites == nil {
				if at >= 0 || !slices.Equal(got.Verification.Uncited, []string{"Recovery took 0.4 seconds in 71 tests."}) {
					t.Errorf("%d, %q", at, got.Verification.Uncited)
				}
				return
			}
			s := got.Verification.Sentences[at]
			if !slices.Equal(s.Citations, tt.cites) || s.Verdict != tt.want || s.Action != tt.action {
				t.Errorf("%+v", s)
			}
			plain, _, _ := strings.Cut(tt.text, "\n")
			plain = regexp.MustCompile(` \[CIT-\S+\]`).ReplaceAllString(plain, "")
			if row := strings.HasPrefix(tt.text, "|"); !row && s.Text != plain {
				t.Errorf("the words are now %q", s.Text)
			}
			checkStructure(t, in, got, topicqueue.CitationAnchors)
			if wrong, _ := got.Verification.Recheck(sources(in), sourceOf(in)); len(wrong) > 0 {
				t.Errorf("sentences %v are judged otherwise the second time", wrong)
			}
			if d := compare(in, got); len(d.Absent)+len(d.Unchecked) > 0 {
				t.Errorf("%+v", d)
			}
		})
	}
}

// TestCorrectionKeepsNames: a correction that leaves out a figure or a name of the cited claims is refused.
func TestCorrectionKeepsNames(t *testing.T) {
	t.Parallel()
	denied := verdicts(map[string]prompts.JudgeFinding{
		"Recovery": {Places: []string{"Recovery of a log of 16 MB"}, Wrong: "It was quick.", Verdict: "contradicted",
			Text: "Recovery was slow."},
		"The checkpoint": {Places: []string{"checkpoint_interval defaults to 300 seconds"}, Wrong: "It is 300.", Verdict: "contradicted",
			Text: "The checkpoint interval is 300 seconds."}})
	model := judgedModel("The checkpoint interval is 400 seconds [CIT-1-02]. Recovery of 16 MB took too long [CIT-1-01].", denied)
	got, err := (&reporting.Reporter{Model: model, Now: now}).Report(t.Context(), evidence(t, topicqueue.CitationAnchors))
	if err != nil {
		t.Fatal(err)
	}
	if s := find(t, got, "Recovery of 16"); s.Action != checking.ActionMarked || !strings.Contains(s.Refused, "16, MB") {
		t.Errorf("%+v", s)
	}
	if s := find(t, got, "The checkpoint"); s.Action != checking.ActionRepaired || s.Text != "The checkpoint interval is 300 seconds." {
		t.Errorf("%+v", s)
	}
}

// sources are those of the run as claim support takes them.
func sources(in reporting.Input) []support.Source {
	var out []support.Source
	for _, b := range in.Blocks {
		for _, t := range b.Traces {
			out = append(out, checking.SupportSource(t.Source, t.Source.Text))
		}
	}
	return out
}

func sourceOf(in reporting.Input) func(string) string {
	return func(id string) string {
		for _, b := range in.Blocks {
			for _, t := range b.Traces {
				if t.CitationID == id {
					return t.Source.ID
				}
			}
		}
		return ""
	}
}

// TestCitesWhatOneClaimBears: a sentence with facts and without a citation gets that of the only claim that bears it
// out.
func TestCitesWhatOneClaimBears(t *testing.T) {
	t.Parallel()
	text := "Every change is appended to the log [CIT-1-01]. Recovery of a log of 16 MB took 0.4 seconds in the tests of version 3.2. Shakespeare wrote 39 plays. Did recovery of a log of 16 MB take 0.4 seconds?"
	got, err := (&reporting.Reporter{Model: logModel(text), Now: now}).Report(t.Context(), evidence(t, topicqueue.CitationAnchors))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.Markdown, "in the tests of version 3.2 [[CIT-1-01](#ref-cit-1-01)].") || strings.Contains(got.Markdown, "plays [[") {
		t.Error(got.Markdown)
	}
	if s := find(t, got, "Recovery of a log"); s.Action != checking.ActionCited || s.Verdict != support.Supported ||
		s.Quotation.Result != support.Verbatim {
		t.Errorf("%+v", s)
	}
	want := []string{"Shakespeare wrote 39 plays.", "Did recovery of a log of 16 MB take 0.4 seconds?"}
	if v := got.Verification; v.Counts.FactsUncited != len(want) || !slices.Equal(v.Uncited, want) {
		t.Errorf("uncited %q, counts %+v", v.Uncited, v.Counts)
	}
}

// TestTextsUnread: a report whose sources cannot be read now is not written; texts that are lost are reported.
func TestTextsUnread(t *testing.T) {
	t.Parallel()
	away := errors.New("connection refused")
	for name, err := range map[string]error{"storage away": away, "texts lost": nil} {
		in := evidence(t, topicqueue.CitationAnchors)
		for _, b := range in.Blocks {
			for i := range b.Traces {
				b.Traces[i].Source.Text = ""
			}
		}
		page := func(context.Context, string, string) (string, error) { return "", err }
		got, failed := (&reporting.Reporter{Model: modelFunc(writer), Now: now, Page: page}).Report(t.Context(), in)
		if !errors.Is(failed, err) {
			t.Errorf("%s: %v", name, failed)
		}
		if err != nil {
			continue
		}
		v := got.Verification
		if v.Status != verification.StatusUnverified || v.Reason == "" || v.Counts.Supported > 0 || v.Counts.Unsupported > 0 || v.Counts.Marked > 0 {
			t.Errorf("%s: %s, %+v\n%s", v.Status, v.Reason, v.Counts, got.Markdown)
		}
		checkStructure(t, in, got, topicqueue.CitationAnchors)
	}
}

// TestExtractiveIsSupported: every quote of a report without a model is borne out, also in another language.
func TestExtractiveIsSupported(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"en", "zh"} {
		in := evidence(t, topicqueue.CitationNumbered)
		in.Run.Options.Language = language
		got, err := (&reporting.Reporter{Now: now}).Report(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		v := got.Verification
		if c := v.Counts; c.Sentences == 0 || c.Supported != c.Sentences || c.FactsUncited > 0 || v.Evaluation.SupportRate != 1 || v.Evaluation.CitationValidity != 1 {
			t.Errorf("%s: %+v %+v", language, c, v.Evaluation)
		}
		for _, s := range v.Sentences {
			if s.Verdict != support.Supported || s.Page == "" || s.End <= s.Start {
				t.Errorf("%+v", s)
			}
		}
		if d := compare(in, got); len(d.Absent)+len(d.Unchecked)+len(d.References) > 0 {
			t.Errorf("%s: %+v", language, d)
		}
	}
}

// TestJudge: one call judges what is not verbatim; what it says counts as far as its words stand in a source.
func TestJudge(t *testing.T) {
	t.Parallel()
	const text = "Long intervals make recovery faster [CIT-1-02]. A commit is safe on disk [CIT-1-01]. The log is kept for a year [CIT-1-01]. " +
		"At 0.4 seconds for 16 MB, the log was read at 40 MB/s [CIT-1-01]. Checkpoints are rare [CIT-1-02]. Shorter intervals make recovery faster but cause more writes [CIT-1-02]. " +
		"It took 0.9 seconds [CIT-1-01]. For most shops the log on disk is enough [CIT-1-01]."
	judge := verdicts(map[string]prompts.JudgeFinding{
		"Long intervals":   {Places: []string{"Shorter intervals make recovery faster"}, Wrong: "The source says that shorter intervals do.", Verdict: "contradicted", Text: "Short intervals make recovery faster."},
		"A commit is safe": {Places: []string{"A transaction counts as committed when its last record has reached the disk."}, Verdict: "supported"},
		"The log is kept":  {Wrong: "The source does not say how long.", Verdict: "not_in_source"},
		"At 0.4 seconds":   {Places: []string{"Recovery of a log of 16 MB took 0.4 seconds"}, Verdict: "supported"},
		"Checkpoints are":  {Places: []string{"checkpoints are a rare event"}, Verdict: "supported"},
		"For most shops":   {Places: []string{"counts as committed when its last record has reached the disk.", "Shorter intervals make recovery faster"}, Verdict: "conclusion"},
		"It took 0.9":      {Places: []string{"Recovery of a log of 16 MB took 0.4 seconds"}, Wrong: "It took 0.4.", Verdict: "contradicted"},
	})
	var mu sync.Mutex
	var judged []llm.Request
	model := judgedModel(text, func(req llm.Request) (string, error) {
		mu.Lock()
		judged = append(judged, req)
		mu.Unlock()
		return judge(req)
	})
	in := evidence(t, "")
	got, err := (&reporting.Reporter{Model: model, Now: now}).Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(judged) != 1 { // short sections share a call
		t.Errorf("%d calls for %d sections", len(judged), len(got.Outline.Sections))
	}
	for _, req := range judged {
		if req.Role != llm.Judge || strings.Contains(req.Prompt.User, "cause more writes [") {
			t.Errorf("%s: %s", req.Role, req.Prompt.User)
		}
	}
	for beginning, want := range map[string]struct {
		verdict support.Result
		action  string
		judge   support.Judgement
		proven  bool
	}{
		"Short intervals":   {support.Supported, checking.ActionRepaired, support.JudgedSupported, true},
		"A commit is safe":  {support.Supported, checking.ActionKept, support.JudgedSupported, true},
		"The log is kept":   {support.Unsupported, checking.ActionMarked, support.JudgedAbsent, false},
		"At 0.4 seconds":    {support.Supported, checking.ActionKept, support.JudgedSupported, true}, // it is computed
		"Checkpoints are":   {support.Unverified, checking.ActionKept, support.JudgedSupported, false},
		"Shorter intervals": {support.Supported, checking.ActionKept, "", false}, // verbatim
		"For most shops":    {support.Unverified, checking.ActionCited, support.JudgedConclusion, true},
		"It took 0.9":       {support.Unsupported, checking.ActionMarked, support.JudgedContradicted, true},
	} {
		if s := find(t, got, beginning); s.Verdict != want.verdict || s.Action != want.action || s.Judge.Judgement != want.judge || (s.Judge.Span != nil) != want.proven {
			t.Errorf("%s: %+v", beginning, s)
		}
	}
	if got.Verification.Counts.Conclusions != 1 {
		t.Error(got.Markdown)
	}
	if wrong, _ := got.Verification.Recheck(sources(in), sourceOf(in)); len(wrong) > 0 {
		t.Errorf("sentences %v are not confirmed the second time", wrong)
	}
	for i, s := range got.Verification.Sentences { // a judgement without the words that it rests on
		if s.Verdict == support.Supported && s.Judge.Span != nil {
			got.Verification.Sentences[i].Judge.Words = "The source says so indeed."
			if wrong, _ := got.Verification.Recheck(sources(in), sourceOf(in)); !slices.Equal(wrong, []int{i}) {
				t.Errorf("of a forged judgement, %v are seen", wrong)
			}
			break
		}
	}
}

// TestSilentJudge: whatever a judge does, there is a report, and it says what was not checked.
func TestSilentJudge(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"nothing": `{"findings": []}`, "prose": "All sentences are fine.",
		"nonsense": `{"findings": [{"sentence": 99, "places": [], "sum": "", "wrong": "", "verdict": "supported", "text": ""}, {"sentence": 1, "places": [], "sum": "", "wrong": "", "verdict": "maybe", "text": ""}]}`,
	} {
		got, err := (&reporting.Reporter{Model: judgedModel(rightLog, func(llm.Request) (string, error) { return answer, nil }), Now: now}).Report(t.Context(), evidence(t, ""))
		if err != nil {
			t.Fatal(err)
		}
		s := find(t, got, "Recovery of a log")
		if s.Verdict != support.Unverified || s.Judge.Missing != support.NoAnswer || got.Verification.Counts.Supported > 0 {
			t.Errorf("%s: %+v\n%s", name, s, got.Markdown)
		}
		if failed := name == "prose"; (got.Verification.Counts.JudgeFailed > 0) != failed || (got.Verification.Reason != "") != failed {
			t.Errorf("%s: %+v %q", name, got.Verification.Counts, got.Verification.Reason)
		}
	}
}

var claimOfPrompt = regexp.MustCompile(`(?m)^\[(CIT-\d+-\d+)\] (.+)$`)

// lies are the sentences that a liar has changed, without their markers.
type lies struct {
	mu   sync.Mutex
	told map[string]string // kind by text
}

func (l *lies) kind(text string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.told[plainText(text)]
}

// plainText is a sentence without its full stop, emphasis and the number that its source has in it.
func plainText(s string) string {
	s = strings.NewReplacer("*", "", `\`, "", " [7]", "").Replace(s)
	return strings.TrimSuffix(s, ".")
}

var (
	anyNumber = regexp.MustCompile(`\d+(\.\d+)?`)
	anyUnit   = regexp.MustCompile(`\b(seconds|MB|minutes|percent)\b`)
	otherUnit = map[string]string{"seconds": "weeks", "MB": "TB", "minutes": "years", "percent": "euros"}
)

// liar writes sections from the claims that it is given, and lies in every fifth sentence: with another number, unit
// or date, a negation, a name, a quotation nobody said, a made-up marker, number, link or document.
func liar(seed uint64) (modelFunc, *lies) {
	var mu sync.Mutex
	all := &lies{told: map[string]string{}}
	random := rand.New(rand.NewPCG(seed, 20))
	return func(req llm.Request) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		switch req.Prompt.Name {
		case "judge":
			if seed%3 == 0 {
				return "", errors.New("connection refused")
			}
			return honest(req, all), nil
		case "author":
		default:
			return writer(req)
		}
		var out []string
		for _, m := range claimOfPrompt.FindAllStringSubmatch(req.Prompt.User, -1) {
			sentence, marker := strings.TrimRight(m[2], "."), "["+m[1]+"]"
			if random.IntN(5) == 0 {
				truth, kind := sentence, random.IntN(11)
				switch kind {
				case 6: // the first number is another one
					first := true
					sentence = anyNumber.ReplaceAllStringFunc(sentence, func(n string) string {
						if !first {
							return n
						}
						first = false
						return "7" + n
					})
				case 7:
					sentence = anyUnit.ReplaceAllStringFunc(sentence, func(u string) string { return otherUnit[u] })
				case 8:
					sentence += fmt.Sprintf(" since %d April 1987", 1+random.IntN(28))
				case 9:
					sentence += `, "the largest gap ever seen in any laboratory"`
				case 10:
					marker = fmt.Sprintf("[handbook-%d.pdf, p. 4]", 1000+random.IntN(1000))
				}
				if kind == 0 || kind > 5 && kind < 10 && sentence == truth {
					sentence += fmt.Sprintf(" in %d of 100 cases", 11+random.IntN(80))
				}
				switch kind {
				case 1:
					sentence = "It is not true that " + strings.ToLower(sentence[:1]) + sentence[1:]
				case 2:
					marker = fmt.Sprintf("[CIT-%d-%02d]", 20+random.IntN(70), 1+random.IntN(9))
				case 3:
					marker = fmt.Sprintf("[%d]", 1+random.IntN(30))
				case 4:
					marker = fmt.Sprintf("[a study](https://example.net/study/%d)", random.IntN(1000))
				case 5:
					sentence = fmt.Sprintf("Dr. Miranda Quill found in %d that this holds", 1990+random.IntN(30))
				}
				if sentence != truth {
					all.mu.Lock()
					all.told[plainText(sentence)] = fmt.Sprint(kind)
					all.mu.Unlock()
				}
			}
			out = append(out, sentence+" "+marker+".")
		}
		return strings.Join(out, " "), nil
	}, all
}

// honest judges sentences by what is known of the lies.
func honest(req llm.Request, all *lies) string {
	answer := prompts.JudgeAnswer{Findings: []prompts.JudgeFinding{}}
	for _, m := range askedSentences(req) {
		n, _ := strconv.Atoi(m[1])
		place := llmtest.PlaceOf(req.Prompt.User, m[2])
		f := prompts.JudgeFinding{Sentence: n, Verdict: "supported", Places: []string{place}}
		if all.kind(m[2]) != "" {
			f.Verdict, f.Wrong = "contradicted", "It is a lie."
		}
		answer.Findings = append(answer.Findings, f)
	}
	body, _ := json.Marshal(answer)
	return string(body)
}

// TestLiar: whatever a model makes up, no citation of the report leads nowhere, what was made up is not in it, and each
// removal is written down.
func TestLiar(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	sentences, marked, removed, repaired, markers := 0, 0, 0, 0, 0
	kinds := map[string]int{}
	for seed := range scaletest.Of[uint64](16, 50) {
		in := evidence(t, []string{topicqueue.CitationAnchors, topicqueue.CitationNumbered}[seed%2])
		in.Run.Options.OnUnsupported = []string{topicqueue.UnsupportedMark, topicqueue.UnsupportedRemove}[seed/2%2]
		var mu sync.Mutex
		written := ""
		model, lies := liar(seed)
		got, err := (&reporting.Reporter{Model: modelFunc(func(req llm.Request) (string, error) {
			text, err := model(req)
			mu.Lock()
			defer mu.Unlock()
			if req.Prompt.Schema == nil {
				written += text + "\n"
			}
			return text, err
		}), Now: now}).Report(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		checkStructure(t, in, got, in.Run.Options.CitationStyle)
		for _, link := range regexp.MustCompile(`https://example\.net/study/\d+`).FindAllString(written, -1) {
			if strings.Contains(got.Markdown, link+")") {
				t.Errorf("seed %d: %s is in the report", seed, link)
			}
			if !slices.ContainsFunc(got.Removed, func(r citation.Removal) bool { return r.Marker == link }) {
				t.Errorf("seed %d: the removal of %s is not written down: %v", seed, link, got.Removed)
			}
		}
		for _, id := range regexp.MustCompile(`\[CIT-[2-9]\d-\d+\]`).FindAllString(written, -1) {
			if strings.Contains(got.Markdown, strings.Trim(id, "[]")) || !slices.ContainsFunc(got.Removed, func(r citation.Removal) bool { return r.Marker == id }) {
				t.Errorf("seed %d: %s stays, or its removal is not written down", seed, id)
			}
		}
		c := got.Verification.Counts
		sentences, marked, removed, repaired, markers = sentences+c.Sentences+c.Removed, marked+c.Marked, removed+c.Removed, repaired+c.Repaired, markers+len(got.Removed)
		for _, s := range got.Verification.Sentences {
			kind := lies.kind(s.Text)
			lied := kind != ""
			if kinds[kind]++; lied && s.Verdict == support.Supported {
				t.Errorf("seed %d: supported: %s", seed, s.Text)
			}
			if lied && seed%3 > 0 && s.Verdict != support.Unsupported {
				t.Errorf("seed %d: judged and not unsupported: %+v", seed, s)
			}
			if s.Verdict == support.Unsupported && s.Action == checking.ActionKept {
				t.Errorf("seed %d: unsupported and kept: %s", seed, s.Text)
			}
			if !lied && s.Verdict == support.Unsupported {
				t.Errorf("seed %d: a true sentence is unsupported: %+v", seed, s)
			}
		}
	}
	for _, kind := range []string{"0", "1", "5", "6", "7", "8", "9"} {
		if kinds[kind] == 0 {
			t.Errorf("no lie of kind %s was told: %v", kind, kinds)
		}
	}
	t.Logf("%d sentences with citations: %d marked, %d taken out, %d repaired; %d markers and links removed", sentences, marked, removed, repaired, markers)
}
