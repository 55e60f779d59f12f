// Package foreign verifies a report that another program has written against a list of its sources.
//
// Entry point: [Report.Verify].
package foreign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/citation/verification"
	"nightdesk/pipeline/judging"
	"nightdesk/pipeline/llm"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// Report names a report and its sources, and says how to verify it.
type Report struct {
	File, Sources string // file names, or - for standard input
	Listed        bool   // numbers in a report without references are line numbers of sources
	NoSupport     bool
	Judge         bool // ask the configured model about what quotations and figures leave open
}

// verified is the JSON document of `verify --report --json`.
type verified struct {
	verification.Result
	Sentences []verifiedSentence `json:"sentences"`
}

type verifiedSentence struct {
	Text    string         `json:"text"`
	Head    string         `json:"head,omitempty"` // for a table row: the first row of the table
	Verdict support.Result `json:"verdict"`
	support.Findings
	Judge     support.Judged `json:"judge,omitzero"`
	Citations []int          `json:"citations"` // numbers of valid_citations
	Passage   *passage       `json:"passage"`

	sources []string // ids of the cited sources in the corpus
	numbers []int    // citation numbers, parallel to sources
}

// passage is the part of a source that best shows the findings.
type passage struct {
	Source int    `json:"source"` // number of the citation
	Text   string `json:"text"`
	Start  int    `json:"start"` // byte offset into the source's text
	End    int    `json:"end"`
}

// Verify checks every citation of the report, prints it without those that have no source, and says what was removed.
// The error of a report with faults has an exit code.
func (f Report) Verify(ctx context.Context, cfg config.Config, con *view.Console) error {
	if f.File == "" || f.Sources == "" {
		return view.Usage(view.Hint(errors.New("verify needs both a report and its sources"),
			"nightdesk verify --report report.md --sources sources.jsonl"))
	}
	if f.File == "-" && f.Sources == "-" {
		return view.Usage(errors.New("the report and its sources cannot both come from standard input"))
	}
	var judge llm.Model
	if f.Judge {
		client, err := judgeModel(cfg)
		if err != nil {
			return err
		}
		judge = client
	}
	report, err := readInput(con, f.File)
	if err != nil {
		return view.Usage(fmt.Errorf("read the report: %w", err))
	}
	if !utf8.Valid(report) {
		return view.Usage(fmt.Errorf("read the report: %s is not UTF-8 text; a report is Markdown", f.File))
	}
	data, err := readInput(con, f.Sources)
	if err != nil {
		return view.Usage(fmt.Errorf("read the sources: %w", err))
	}
	sources, err := parseSources(data)
	if err != nil {
		return view.Usage(fmt.Errorf("read the sources in %s:\n%w", f.Sources, err))
	}
	same := readPages(sources, f.Sources)
	registry := citation.RegistryOf(sources)
	v := verification.Verify(registry, string(report), f.Listed)
	sentences := []verifiedSentence{}
	if !f.NoSupport {
		if sentences, err = supportOf(ctx, con, v, registry.Sources(), same, judge); err != nil {
			return err
		}
	}
	err = con.Result(verified{v, sentences}, "%s", v.Report)
	if !con.JSON {
		sayVerified(con, v)
		saySupported(con, sentences, f.Judge)
	}
	switch {
	case err != nil:
		return err
	case v.Status != verification.StatusVerified:
		return view.Ended(fmt.Errorf("no citation of the report is valid: %s", v.Reason), view.ExitFailed)
	case len(v.Removed) > 0 || v.BodyURLsRemoved > 0:
		return view.Ended(fmt.Errorf("the report had citations or links without a source: %d removed, %d kept",
			len(v.Removed)+v.BodyURLsRemoved, len(v.Valid)), view.ExitPartial)
	}
	return nil
}

// judgeModel returns the model that judges sentences.
func judgeModel(cfg config.Config) (*llm.Client, error) {
	if cfg.LLM.Judge.Name == "" {
		return nil, view.Usage(view.Hint(errors.New("--judge needs a model, and none is configured"),
			"Set LLM_MODEL or LLM_JUDGE_MODEL, or leave --judge out."))
	}
	return wiring.NewModelClient(cfg, nil, nil, []wiring.RoleModel{{Role: llm.Judge, Model: cfg.LLM.Judge}})
}

// supportOf checks the sentences with citations against the texts of their sources, and of the sources that same gives
// as equal. If there is a judge, it decides the remaining sentences. Sentences are unverified if the check or the judge
// fails. The error is that of ctx.
func supportOf(ctx context.Context, con *view.Console, v verification.Result, sources []citation.Source,
	same map[int][]int, judge llm.Model,
) ([]verifiedSentence, error) {
	all, titles, ids := make([]support.Source, len(sources)), map[string]string{}, make([]string, len(sources))
	for i, s := range sources {
		ids[i] = cmp.Or(s.URL, s.Key)
		if _, taken := titles[ids[i]]; taken || ids[i] == "" {
			ids[i] = fmt.Sprint("source ", i+1)
		}
		titles[ids[i]] = s.Title
		all[i] = support.Source{ID: ids[i], Text: s.Text, About: strings.Join([]string{s.Title, s.Key, s.URL}, ". ")}
	}
	corpus := support.New(all)
	out := make([]verifiedSentence, len(v.Sentences))
	for i, s := range v.Sentences {
		out[i] = foundSentence(corpus, s, ids, same, judge != nil)
	}
	if judge != nil {
		about := func(at support.Span) prompts.Passage {
			head := topicqueue.Source{Text: corpus.Beginning(at.Source)}.HeadAt(at.Start)
			return prompts.Passage{Title: titles[at.Source], Head: head}
		}
		j := judging.Judge{Model: judge, Language: "en", Corpus: corpus, About: about}
		if err := judgeAll(ctx, con, j, out); err != nil {
			return nil, err
		}
	}
	for i := range out {
		out[i] = out[i].decided(corpus)
	}
	return out, nil
}

// foundSentence checks a sentence against its sources. ids are the ids of all sources in the corpus.
func foundSentence(corpus *support.Corpus, s verification.Sentence, ids []string, same map[int][]int, judge bool) (
	out verifiedSentence,
) {
	out = verifiedSentence{Text: s.Text, Head: s.Head, Citations: s.Citations, Findings: support.Findings{NoText: true}}
	for i, source := range s.Sources[:min(len(s.Sources), len(s.Citations))] {
		for _, at := range append([]int{source}, same[source]...) {
			out.sources, out.numbers = append(out.sources, ids[at]), append(out.numbers, s.Citations[i])
		}
	}
	out.Findings = corpus.Check(s.Text, s.Head, out.sources)
	switch {
	case out.NoText:
		out.Judge.Missing = support.NoSource
	case out.Quotation.Result != support.Verbatim && !judge:
		out.Judge.Missing = support.NoJudge
	}
	return out
}

// judgeAll asks the judge about the sentences that are not verbatim quotations.
func judgeAll(ctx context.Context, con *view.Console, judge judging.Judge, sentences []verifiedSentence) error {
	var open []int
	var asked []judging.Sentence
	for i, s := range sentences {
		if s.Quotation.Result != support.Verbatim && s.Judge.Missing == "" {
			open = append(open, i)
			asked = append(asked, judging.Sentence{Text: s.Text, Head: s.Head, Sources: s.sources, Findings: s.Findings})
		}
	}
	answers, errs := judge.All(ctx, llm.Position{Stage: "verify"}, asked, 1)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, err := range errs {
		con.Say("left unverified: %v", err)
	}
	for i, at := range open {
		sentences[at].Judge = judge.Corpus.Prove(answers[i].Judged, sentences[at].sources)
	}
	return nil
}

// decided returns the sentence with its verdict and passage.
func (s verifiedSentence) decided(corpus *support.Corpus) verifiedSentence {
	s.Verdict = s.Findings.Decide(s.Judge)
	shown := corpus.Shown(s.Text, s.sources, s.Findings, s.Judge)
	if at := slices.Index(s.sources, shown.Source); at >= 0 && shown.End > shown.Start {
		s.Passage = &passage{Source: s.numbers[at], Text: corpus.Text(shown), Start: shown.Start, End: shown.End}
	}
	return s
}

// saySupported prints which sentences are not supported by their sources, and what was not checked.
func saySupported(con *view.Console, sentences []verifiedSentence, judged bool) {
	if len(sentences) == 0 {
		return
	}
	counts := map[support.Result]int{}
	for _, s := range sentences {
		counts[s.Verdict]++
	}
	con.Say("%s with citations: %d supported, %d unsupported, %d unverified", view.Counted(len(sentences), "sentence"),
		counts[support.Supported], counts[support.Unsupported], counts[support.Unverified])
	if !judged {
		con.Say("  only quotations, figures and dates were compared; --judge asks a model about the rest")
	}
	for _, s := range sentences {
		if s.Verdict == support.Unsupported {
			con.Say("  unsupported: %s: %s", s.why(), view.Clip(s.Text, 120))
		}
	}
}

// why returns the reason that a sentence is unsupported.
func (s verifiedSentence) why() string {
	if s.Quotation.Result == support.Absent {
		return "no source has the quotation “" + s.Quotation.Missing + "”"
	}
	if s.Judge.Wrong != "" {
		return s.Judge.Wrong
	}
	for _, f := range s.Figures {
		if f.Instead != "" {
			return "the source has “" + f.Instead + "”, not “" + f.Text + "”"
		}
	}
	return "no source says it"
}

// sayVerified prints which citations are valid and which were removed.
func sayVerified(con *view.Console, v verification.Result) {
	con.Say("%d citations lead to a source", len(v.Valid))
	for _, c := range v.Valid {
		if c.URL != nil && c.Match != citation.MatchExact && c.Match != citation.MatchTitle {
			con.Say("  [%s] stands for %s (%s)", cmp.Or(c.ID, fmt.Sprint(c.Number)), *c.URL, c.Match)
		}
	}
	for _, r := range v.Removed {
		detail := ""
		if r.Detail != "" {
			detail = ", " + r.Detail
		}
		con.Say("  removed [%s]: %s%s: %s", cmp.Or(r.ID, fmt.Sprint(r.Number)), r.Reason, detail, view.Clip(r.Line, 120))
	}
	if v.BodyURLsRemoved > 0 {
		con.Say("  removed %d links and addresses that no source has from the text", v.BodyURLsRemoved)
	}
}

// readInput reads a file, or standard input for "-".
func readInput(con *view.Console, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(con.In)
	}
	return os.ReadFile(name)
}
