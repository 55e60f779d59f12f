package reporting

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// material is what a report is written from, and what is noted on the way. It is gathered by newWriter and weigh, and
// only read after that, but for what mu guards, stats and the registry. Every step of the work has it: outliner plans
// the sections, sectionWriter writes them, checker checks them, assembler puts the report together.
type material struct {
	*Reporter
	run      topicqueue.Run
	topic    string // as researched: what a model is given
	title    string // heading of the topic: what a report is called by default
	texts    *prompts.Texts
	registry *citation.Registry
	returned map[string]topicqueue.Source // by source id: what traces hold and what else was returned
	review   topicqueue.Review
	blocks   []blockEvidence
	claims   []claim           // of all blocks
	cited    map[string]string // of traces whose passage another one has found first: the citation that stands for it
	gaps     []Gap
	stats    Statistics
	read     map[string]string // of sources, by id, as far as they were read
	weighed  evidence.Weighed
	changes  *recurring.Changes
	template *Template            // in place of an outline; nil: none
	answer   string               // that the report is; empty: it is written
	before   *Text                // what may be kept of the last report
	moved    map[string]bool      // citation ids with news, when there is a last report
	remarks  []prompts.RemarkLine // of readers about earlier reports
	reread   map[string]bool      // citation ids whose text is another one than that of the last report

	mu        sync.Mutex
	fallbacks []string
	moments   []Moment
	found     map[string]citation.Linked // by the source's address: how it was written
}

// bundle leads from reports/<run>.md to the run's data, in a directory as in a bucket.
func (m *material) bundle() string { return "../cache/" + m.run.ID + "/" }

// titleFor names a section that has no usable title: after its first block.
func (m *material) titleFor(s OutlineSection) string {
	for _, id := range s.BlockIDs {
		if b := m.block(id); b != nil { // one of the last report may have nothing left
			return b.title
		}
	}
	for _, c := range m.claims {
		if slices.Contains(s.AllClaimIDs(), c.ID) {
			return m.block(c.block).title
		}
	}
	return m.title
}

// nothingFor is a section of a template for which nothing was found.
func (m *material) nothingFor(title string) section {
	return section{title: title, body: m.texts.NothingFor.String(), local: true, empty: true}
}

// accept cleans a written text, takes out what it repeats, for a weak model goes round in circles, and resolves its
// markers among the ids that its writer was given. It is usable when something readable is left that cites at least one
// of them.
func (m *material) accept(text, title string, ids []string) (p passage, usable bool) {
	body, ok := cleanSection(text, title)
	if !ok {
		return passage{}, false
	}
	body, removed, links := m.registry.Only(ids).ResolveLinks(body)
	p.removed = removed
	m.noteLinks(links)
	p.body, p.repeated = withoutLoops(tidy(body))
	cited := m.registry.Render(p.body, citation.Options{}).Cited
	return p, p.body != "" && (len(ids) == 0 || len(cited) > 0)
}

// citedOf returns the claims whose citation the text has.
func (m *material) citedOf(s section) []claim {
	ids := m.registry.Render(s.body, citation.Options{}).Cited
	var cited []claim
	for _, c := range s.claims {
		if slices.Contains(ids, c.CitationID) {
			cited = append(cited, c)
		}
	}
	return cited
}

// disagreements returns the contradictions that a report tells of, those with most support.
func (m *material) disagreements() []evidence.Contradiction {
	all := m.weighed.Contradictions
	return all[:min(len(all), maxDisagreements)]
}

// block returns a block that has claims, nil for another id.
func (m *material) block(id string) *blockEvidence {
	for i := range m.blocks {
		if m.blocks[i].id == id {
			return &m.blocks[i]
		}
	}
	return nil
}

// reached keeps a moment of the writing.
func (m *material) reached(name string, titles ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.moments = append(m.moments, Moment{Name: name, Time: m.now().UTC(), Titles: titles})
}

func (m *material) now() time.Time {
	if m.Now == nil {
		return time.Now()
	}
	return m.Now()
}

// fellBack records that the local form of a step was used. Safe for concurrent use.
func (m *material) fellBack(step string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fallbacks = append(m.fallbacks, step)
}

// position places a call of this report. attempt counts from 0.
func (m *material) position(step string, ordinal, attempt int) llm.Position {
	return llm.Position{RunID: m.run.ID, Stage: "reporting", Step: step, Ordinal: ordinal, Iteration: attempt}
}

// text asks for free text. What the token limit has cut is used as far as it goes.
func (m *material) text(ctx context.Context, p prompts.Prompt, ordinal, attempt int) (string, error) {
	text, err := llm.Text(ctx, m.Model, llm.Request{Position: m.position(p.Name, ordinal, attempt), Role: llm.Writer,
		Prompt: p})
	if errors.Is(err, llm.ErrTruncated) && ctx.Err() == nil {
		err = nil
	}
	return prompts.Unmarked(text), ended(ctx, err)
}

// ask asks a structured question of the writer. prompt makes it of evidence that is halved shrink times, for models
// with a small windom.
func ask[T any](ctx context.Context, m *material, prompt func(shrink int) prompts.Prompt) (answer T, err error) {
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

// ended returns the cause of ctx's end, else err: a call that failed because its run was stopped is no model trouble.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
