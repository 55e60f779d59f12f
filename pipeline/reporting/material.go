package reporting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/template"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// writer writes one report: it plans the sections, writes them, has them checked and builds the report. newWriter and
// weigh fill it; later only stats, the registry and the fields guarded by mu change.
type writer struct {
	*Reporter
	input    Input // Computed is set when the sections are planned
	run      topicqueue.Run
	topic    string // as researched, for prompts
	title    string // topic as a heading, the default title of the report
	texts    *prompts.Texts
	registry *citation.Registry
	returned map[string]topicqueue.Source // by source id: sources of traces and others that tools returned
	review   topicqueue.Review
	cautions []string // about sources that give orders to assistants, inline Markdown
	blocks   []blockEvidence
	claims   []claim           // of all blocks
	cited    map[string]string // replacement for citations of passages that another trace found first
	gaps     []Gap
	stats    Statistics
	read     map[string]string // texts of sources by source id, if they were read
	weighed  evidence.Weighed
	changes  *recurring.Changes
	template *template.Template   // used instead of an outline; nil: none
	answer   string               // answer that is the report; empty: the report is written
	before   *Text                // last report, if parts of it may be kept
	moved    map[string]bool      // citation ids with changed evidence, if there is a last report
	remarks  []prompts.RemarkLine // of readers about earlier reports
	reread   map[string]bool      // citation ids whose text was read again

	mu        sync.Mutex
	fallbacks []string
	moments   []Moment
	found     map[string]citation.Linked // by address of the source, as written
}

// titleFor returns the title of a section's first block, for a section without a usable title.
func (m *writer) titleFor(s OutlineSection) string {
	for _, id := range s.BlockIDs {
		if b := m.block(id); b != nil { // a block of the last report may have no claims left
			return b.title
		}
	}
	for _, c := range m.claims {
		if slices.Contains(s.AllClaimIDs(), c.ID) {
			return m.block(c.Block).title
		}
	}
	return m.title
}

// nothingFor returns a template section without evidence.
func (m *writer) nothingFor(title string) part {
	p := localPart(title, m.texts.NothingFor.String())
	p.empty = true
	return p
}

// accept makes blocks of a written text, removes repetitions, which weak models write, and resolves its markers among
// the ids given to the writer. The text is usable if it is not empty and cites at least one of the ids, if there are
// any.
func (m *writer) accept(written, title string, ids []string) (p partText, usable bool) {
	written, ok := textOf(written)
	if !ok {
		return partText{}, false
	}
	body, removed, links := m.registry.Only(ids).Resolve(written)
	p.Removed = removed
	m.noteLinks(links)
	blocks := report.Clean(report.Parse(body), title, prompts.HeadsSources)
	p.Blocks, p.Repeated = report.DropRepeated(blocks, map[string]bool{})
	return p, len(p.Blocks) > 0 && (len(ids) == 0 || len(report.Cited(p.Blocks)) > 0)
}

// textOf returns the text of a model's answer without introduction and comments; false if the answer is no text: empty,
// a refusal, or data.
func textOf(answer string) (string, bool) {
	answer = strings.ReplaceAll(strings.ToValidUTF8(answer, "\uFFFD"), "\r\n", "\n")
	answer = strings.TrimSpace(strings.ReplaceAll(answer, "\r", "\n"))
	if first, rest, more := strings.Cut(answer, "\n"); more && prompts.Introduces(strings.TrimSpace(first)) {
		answer = strings.TrimSpace(rest)
	}
	if answer == "" || prompts.Refuses(answer) || isData(answer) {
		return "", false
	}
	return answer, true
}

// isData reports whether the text is JSON or XML rather than prose.
func isData(text string) bool {
	text = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(text, "```json"), "```")))
	begins := func(mark string) bool { return strings.HasPrefix(text, mark) }
	return slices.ContainsFunc([]string{"{", `["`, "[{", "<?xml", "<!doctype"}, begins)
}

// citedOf returns the claims of a section that its text cites.
func (m *writer) citedOf(s part) []claim {
	ids := report.Cited(s.Blocks)
	var cited []claim
	for _, c := range s.claims {
		if slices.Contains(ids, c.CitationID) {
			cited = append(cited, c)
		}
	}
	return cited
}

// block returns the block with claims of this id, or nil.
func (m *writer) block(id string) *blockEvidence {
	for i := range m.blocks {
		if m.blocks[i].id == id {
			return &m.blocks[i]
		}
	}
	return nil
}

// reached records a moment of the writing.
func (m *writer) reached(name string, titles ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.moments = append(m.moments, Moment{Name: name, Time: m.now().UTC(), Titles: titles})
}

func (m *writer) now() time.Time {
	if m.Now == nil {
		return time.Now()
	}
	return m.Now()
}

// fellBack records that a step used its local form. It is safe for concurrent use.
func (m *writer) fellBack(step string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fallbacks = append(m.fallbacks, step)
}

// position returns the position of a model call of this report. attempt counts from 0.
func (m *writer) position(step string, ordinal, attempt int) llm.Position {
	return llm.Position{RunID: m.run.ID, Stage: "reporting", Step: step, Ordinal: ordinal, Iteration: attempt}
}

// text asks the model for free text. cut: the token limit cut the answer.
func (m *writer) text(
	ctx context.Context, p prompts.Prompt, ordinal, attempt int,
) (said string, cut bool, err error) {
	said, err = llm.Text(ctx, m.Model, llm.Request{Position: m.position(p.Name, ordinal, attempt), Role: llm.Writer,
		Prompt: p})
	if cut = errors.Is(err, llm.ErrTruncated); cut {
		err = nil
	}
	return prompts.Unmarked(said), cut, ended(ctx, err)
}

// ask sends a structured prompt to the writer. If the context window is too small, it retries with a larger shrink, for
// which prompt must halve the evidence.
func ask[T any](ctx context.Context, m *writer, prompt func(shrink int) prompts.Prompt) (answer T, err error) {
	for shrink := range digestTries {
		p := prompt(shrink)
		answer, err = llm.Ask[T](ctx, m.Model, llm.Request{Position: m.position(p.Name, 0, shrink), Role: llm.Writer,
			Prompt: p})
		if !errors.Is(err, llm.ErrContextLength) {
			break
		}
	}
	return answer, ended(ctx, err)
}

// ended returns the cause of ctx's end, or err if ctx has not ended. A call that failed because its run was stopped is
// not a model failure.
func ended(ctx context.Context, err error) error {
	return cmp.Or(context.Cause(ctx), err)
}

// readAtOnce is the number of texts read in parallel.
const readAtOnce = 8

// readSources returns the text of each source, from storage if necessary. It is empty if there is no storage, or if the
// text is lost. The error means that a text cannot be read now.
func (m *writer) readSources(ctx context.Context, list []topicqueue.Source) ([]string, error) {
	texts := make([]string, len(list))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readAtOnce)
	for i, s := range list {
		texts[i] = cmp.Or(s.Text, m.read[s.ID])
		if texts[i] != "" || m.Page == nil || s.Hash == "" {
			continue
		}
		g.Go(func() (err error) {
			if texts[i], err = m.Page(ctx, m.run.ID, s.Hash); err != nil {
				err = fmt.Errorf("read the text of a source: %w", err)
			}
			return err
		})
	}
	return texts, g.Wait()
}

// A writer gets claims and cites them. Other links stay if a tool of the run returned their address. A sentence that
// only links is judged by the text that the run read from the address, which is none if the address was only mentioned.

// noteLinks records how addresses were found. It is safe for concurrent use.
func (m *writer) noteLinks(links []citation.Linked) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range links {
		if _, known := m.found[l.Address]; !known {
			m.found[l.Address] = l
		}
	}
}

// links returns the addresses that a draft links, as written.
func (m *writer) links(d draft) []citation.Linked {
	out := []citation.Linked{}
	if d.extractive { // quotations only
		return out
	}
	var texts []string
	for _, p := range d.parts() {
		if !p.Local {
			texts = append(texts, report.Canonical(p.Blocks))
		}
	}
	for _, l := range m.registry.Links(strings.Join(texts, "\n\n")) {
		if written, known := m.found[l.Address]; known {
			l.URL, l.Match = written.URL, written.Match
		}
		out = append(out, l)
	}
	return out
}

// source returns the source of a citation id or a source id.
func (m *writer) source(id string) (topicqueue.Source, bool) {
	if s, ok := m.returned[id]; ok {
		return s, true
	}
	t, ok := m.registry.Lookup(id)
	return t.Source, ok
}

// AllReturned returns the distinct sources that tools returned.
func (in Input) AllReturned() []topicqueue.Source {
	var out []topicqueue.Source
	seen := map[string]bool{}
	for _, c := range in.Returned {
		for _, s := range c.Sources {
			if !seen[s.ID] {
				seen[s.ID] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// Registry returns the registry of a run, built from its traces and other sources that its tools returned.
func (in Input) Registry() *citation.Registry {
	return citation.NewRegistry(in.Traces(), in.AllReturned()...)
}

// SourceOf returns a function that maps a citation of a checked sentence to its source id, or "".
func (in Input) SourceOf(registry *citation.Registry) func(cited string) string {
	known := map[string]bool{}
	for _, s := range in.AllReturned() {
		known[s.ID] = true
	}
	for _, t := range in.Traces() {
		known[t.Source.ID] = true
	}
	return func(cited string) string {
		t, ok := registry.Lookup(cited)
		if !ok && known[cited] {
			return cited
		}
		return t.Source.ID
	}
}

// documents counts the distinct documents and pages of citations.
func (m *writer) documents(ids []string) int {
	distinct := map[string]bool{}
	for _, id := range ids {
		if t, ok := m.registry.Lookup(id); ok && t.ToolType != calculation {
			distinct[claim{Source: t.Source}.Document()] = true
		}
	}
	return len(distinct)
}

// open returns the questions that stayed open, the gaps, and, if no review was made at the end, what each block said
// before its last search.
func (m *writer) open() []string {
	list := slices.Clone(m.review.Open)
	for _, b := range m.blocks {
		if said := text.Line(b.block.Open); said != "" {
			list = append(list, b.title+": "+said)
		}
	}
	for _, g := range m.gaps {
		list = append(list, g.Title+": "+g.Reason)
	}
	return list
}
