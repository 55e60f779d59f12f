package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/support"
)

// foreignReport is what `verify --report` is asked to do.
type foreignReport struct {
	report, sources       string // files, or - for standard input
	listed                bool   // numbers of a report without references are those of the lines of sources
	noSanitize, noSupport bool
}

func (f *foreignReport) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.report, "report", "", "a report from elsewhere, a Markdown file")
	cmd.Flags().StringVar(&f.sources, "sources", "", "its sources, a JSON object on each line")
	cmd.Flags().BoolVar(&f.listed, "numbered-sources", false, "[1] is the first of the sources: a report without references gets their list")
	cmd.Flags().BoolVar(&f.noSanitize, "no-sanitize", false, "leave addresses outside the references, and the numbers, as they are")
	cmd.Flags().BoolVar(&f.noSupport, "no-support", false, "do not look whether the sources say what the sentences say")
}

func (f *foreignReport) given() bool { return f.report != "" || f.sources != "" }

// verified is what `verify --report --json` prints.
type verified struct {
	citation.Verification
	Sentences []verifiedSentence `json:"sentences"`
}

type verifiedSentence struct {
	Text      string         `json:"text"`
	Head      string         `json:"head,omitempty"` // of a row of a table: the table's first row
	Verdict   support.Result `json:"verdict"`
	Reason    support.Reason `json:"reason,omitempty"` // why it is not supported
	Detail    string         `json:"detail,omitempty"` // the words that are not borne out
	Citations []int          `json:"citations"`        // numbers of valid_citations
	Passage   *passage       `json:"passage"`
}

// passage is the place of a source that a sentence was compared with.
type passage struct {
	Source int    `json:"source"` // number of the citation
	Text   string `json:"text"`
	Start  int    `json:"start"` // bytes into the source's text
	End    int    `json:"end"`
}

func (a *app) verifyReport(f foreignReport) error {
	if f.report == "" || f.sources == "" {
		return usageError{hintError{errors.New("verify needs both a report and its sources"), "nightdesk verify --report report.md --sources sources.jsonl"}}
	}
	if f.report == "-" && f.sources == "-" {
		return usageError{errors.New("the report and its sources cannot both come from standard input")}
	}
	report, err := a.readInput(f.report)
	if err != nil {
		return usageError{fmt.Errorf("read the report: %w", err)}
	}
	if !utf8.Valid(report) {
		return usageError{fmt.Errorf("read the report: %s is not UTF-8 text; a report is Markdown", f.report)}
	}
	data, err := a.readInput(f.sources)
	if err != nil {
		return usageError{fmt.Errorf("read the sources: %w", err)}
	}
	sources, err := parseSources(data)
	if err != nil {
		return usageError{fmt.Errorf("read the sources in %s:\n%w", f.sources, err)}
	}
	same := readPages(sources, f.sources)
	registry := citation.RegistryOf(sources)
	v, failure := citation.Guarded(string(report), func() citation.Verification {
		return registry.Verify(string(report), citation.VerifyOptions{Sanitize: !f.noSanitize, Listed: f.listed})
	})
	sentences := []verifiedSentence{}
	if !f.noSupport {
		sentences = supportOf(v, registry.Sources(), same)
	}
	if a.json {
		err = a.printJSON(verified{v, sentences}, false)
	} else {
		_, err = io.WriteString(a.stdout, v.Report)
		a.sayVerified(v)
		a.saySupported(sentences)
	}
	switch {
	case err != nil:
		return err
	case failure != nil:
		return resultError{failure, exitFailed}
	case v.Status != citation.StatusVerified:
		return resultError{fmt.Errorf("no citation of the report is valid: %s", v.Reason), exitFailed}
	case len(v.Removed) > 0 || v.BodyURLsRemoved > 0:
		return resultError{fmt.Errorf("the report had citations or links without a source: %d removed, %d stay", len(v.Removed)+v.BodyURLsRemoved, len(v.Valid)), exitPartial}
	}
	return nil
}

// supportOf judges the sentences with citations by the texts of the sources that they cite, and of what same says of them. A
// defect of the check leaves them unverified.
func supportOf(v citation.Verification, sources []citation.Source, same map[int][]int) []verifiedSentence {
	all := make([]support.Source, len(sources))
	for i, s := range sources {
		all[i] = support.Source{ID: strconv.Itoa(i), Text: s.Text, About: strings.Join([]string{s.Title, s.Key, s.URL}, ". ")}
	}
	corpus := support.New(all)
	out := []verifiedSentence{}
	judged := map[string]verifiedSentence{} // a text may say the same thousands of times
	for _, s := range v.Sentences {
		key := fmt.Sprint(s.Citations, s.Sources, s.Text)
		if _, known := judged[key]; !known {
			judged[key] = supportedSentence(corpus, s, same)
		}
		out = append(out, judged[key])
	}
	return out
}

func supportedSentence(corpus *support.Corpus, s citation.Sentence, same map[int][]int) (out verifiedSentence) {
	out = verifiedSentence{Text: s.Text, Head: s.Head, Verdict: support.Unverified, Reason: support.ReasonUnknown, Citations: s.Citations}
	defer func() { _ = recover() }() // the verdict is unverified then
	var ids []string
	var numbers []int // by ids: of the citation
	for i, source := range s.Sources[:min(len(s.Sources), len(s.Citations))] {
		for _, at := range append([]int{source}, same[source]...) {
			ids, numbers = append(ids, strconv.Itoa(at)), append(numbers, s.Citations[i])
		}
	}
	verdict := support.Verdict{}
	if s.Head != "" {
		verdict = corpus.CheckRow(s.Head, s.Text, ids)
	} else {
		verdict = corpus.Check(s.Text, ids)
	}
	out.Verdict, out.Reason, out.Detail = verdict.Result, verdict.Reason, verdict.Detail
	if at := slices.Index(ids, verdict.Source); at >= 0 && verdict.End > verdict.Start {
		out.Passage = &passage{Source: numbers[at], Text: corpus.Passage(verdict), Start: verdict.Start, End: verdict.End}
	}
	return out
}

// saySupported tells a person which sentences their sources do not bear out.
func (a *app) saySupported(sentences []verifiedSentence) {
	counts := map[support.Result]int{}
	for _, s := range sentences {
		counts[s.Verdict]++
	}
	if len(sentences) > 0 {
		a.say("%d sentences with citations: %d supported, %d unsupported, %d could not be decided", len(sentences), counts[support.Supported], counts[support.Unsupported], counts[support.Unverified])
	}
	for _, s := range sentences {
		if s.Verdict == support.Unsupported {
			a.say("  unsupported (%s %s): %s", s.Reason, s.Detail, clipLine(s.Text))
		}
	}
}

// sayVerified tells a person what was done.
func (a *app) sayVerified(v citation.Verification) {
	a.say("%d citations lead to a source", len(v.Valid))
	for _, c := range v.Valid {
		if c.URL != nil && c.Match != citation.MatchExact && c.Match != citation.MatchTitle {
			a.say("  [%s] stands for %s (%s)", label(c.Number, c.ID), *c.URL, c.Match)
		}
	}
	for _, r := range v.Removed {
		detail := ""
		if r.Detail != "" {
			detail = ", " + r.Detail
		}
		a.say("  removed [%s]: %s%s: %s", label(r.Number, r.ID), r.Reason, detail, clipLine(r.Line))
	}
	if v.BodyURLsRemoved > 0 {
		a.say("  removed %d links and addresses from the text: no source has them", v.BodyURLsRemoved)
	}
}

func label(number int, id string) string {
	if id != "" {
		return id
	}
	return fmt.Sprint(number)
}

// clipLine makes one short line of an entry.
func clipLine(s string) string {
	const most = 120
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}

// readInput reads a file, or standard input for "-".
func (a *app) readInput(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(a.stdin)
	}
	return os.ReadFile(name)
}

// parseSources reads a source from each line. Lines that are no source are all named in the error.
func parseSources(data []byte) ([]citation.Source, error) {
	var sources []citation.Source
	var bad []error
	scan := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	scan.Buffer(nil, len(data)+1)
	for n := 1; scan.Scan(); n++ {
		line := bytes.TrimSpace(scan.Bytes())
		if len(line) == 0 {
			continue
		}
		s, err := parseSource(line)
		if err != nil {
			bad = append(bad, fmt.Errorf("  line %d: %w", n, err))
			continue
		}
		sources = append(sources, s)
	}
	if err := scan.Err(); err != nil {
		bad = append(bad, err)
	}
	return sources, errors.Join(bad...)
}

// parseSource reads one source, in the form of this command or as a line of a bundle's sources.jsonl.
func parseSource(line []byte) (citation.Source, error) {
	var in struct {
		URL      string `json:"url"`
		Title    string `json:"title"`
		Key      string `json:"citation_key"`
		Text     string `json:"text"`
		Document string `json:"document"`
		Page     int    `json:"page"`
		Hash     string `json:"sha256"`
	}
	if err := json.Unmarshal(line, &in); err != nil {
		var kind *json.UnmarshalTypeError
		switch {
		case errors.As(err, &kind) && kind.Field != "":
			return citation.Source{}, fmt.Errorf("%s of a source is no %s", kind.Field, kind.Value)
		case errors.As(err, &kind):
			return citation.Source{}, fmt.Errorf(`a source is a JSON object such as {"url": "https://..."}, and no %s`, kind.Value)
		}
		return citation.Source{}, fmt.Errorf("no JSON object of a source: %w", err)
	}
	s := citation.Source{URL: strings.TrimSpace(in.URL), Key: strings.TrimSpace(in.Key), Title: in.Title, Text: in.Text, Hash: in.Hash}
	if s.Key == "" && in.Document != "" {
		s.Key = in.Document
		if in.Page > 0 {
			s.Key = fmt.Sprintf("%s, p. %d", in.Document, in.Page)
		}
	}
	if s.URL == "" && s.Key == "" {
		return s, errors.New("a source needs url or citation_key")
	}
	return s, nil
}
