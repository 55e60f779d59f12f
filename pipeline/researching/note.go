package researching

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/researching/recheck"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// Limits of the source text in one note call, in bytes. 20,000 bytes are about 5,000 tokens of English or 7,000 of
// Chinese, which with instructions and answer fit a window of 16,384 tokens. If the window is smaller, chunks are
// halved down to minNoteBytes. A still smaller window has no room for a page.
const (
	noteBytes    = 20_000
	minNoteBytes = 2_000
	ordinalStep  = 100 // ordinals of note calls: chunk x 100 + call; a chunk halved four times has at most 31 calls
	// maxNotes is the maximum number of note calls per tool call, before halving. The least relevant text stays unread.
	// Of 273 quotes that ten blocks took from 32 documents, 254 are in the text that four calls select from all 190 kB
	// in parts of choiceBytes. Three calls have 233, and six calls with parts of noteBytes have 251.
	maxNotes    = 4
	choiceBytes = 2_000
)

// note is the result of reading the sources of one tool call.
type note struct {
	summary string
	found   []recheck.Finding
	orders  []order
	away    bool // a part was read without the model, because its server is unavailable
}

// order is text of a source that gives orders to assistants.
type order struct {
	source int // index in the sources that were read
	words  string
}

// takeNotes reads the fresh sources of all outcomes. notes[i] belongs to outcomes[i].
func (w *work) takeNotes(ctx context.Context, k int, outcomes []outcome) ([]note, error) {
	r := reading{size: noteBytes, shares: w.bestShares(outcomes)}
	starts := make([]int, len(outcomes)) // index of the first source of each outcome
	for i, o := range outcomes {
		parts := cut(o.fresh, noteBytes)
		if o.only != nil {
			parts = cutPieces(o.only, noteBytes)
		}
		starts[i] = len(r.sources)
		for _, p := range parts {
			p.Source += starts[i]
			r.parts = append(r.parts, p)
		}
		r.sources = append(r.sources, o.fresh...)
		if len(parts) > 0 {
			r.asked = append(r.asked, o.line())
		}
	}
	read, err := w.read(ctx, k, r)
	if err != nil {
		return nil, err
	}
	notes := make([]note, len(outcomes))
	of := func(source int) int {
		return sort.Search(len(starts), func(i int) bool { return starts[i] > source }) - 1
	}
	for _, f := range read.found {
		i := of(f.Source)
		f.Source -= starts[i]
		changed := func(p recheck.Part) bool {
			return p.Source == f.Source && p.At < f.End && f.Start < p.At+len(p.Text)
		}
		if only := outcomes[i].only; only == nil || slices.ContainsFunc(only, changed) {
			notes[i].found = append(notes[i].found, f)
		}
	}
	for _, o := range read.orders {
		i := of(o.source)
		notes[i].orders = append(notes[i].orders, order{o.source - starts[i], o.words})
	}
	for i, n := range notes {
		notes[i].summary = summaryOf(n.found)
	}
	return notes, nil
}

// line describes a call for a note prompt: its query, or the purpose and beginning of a program.
func (o outcome) line() string {
	if o.Tool != runCode {
		return o.Tool + ": " + o.Query
	}
	program := topicqueue.Clip(topicqueue.OneLine(o.Query), maxAsked)
	if o.Purpose == "" {
		return o.Tool + ": " + program
	}
	return o.Tool + " (" + o.Purpose + "): " + program
}

// maxAsked is the maximum length of a program in a note prompt, in bytes.
const maxAsked = 400

// reading is text to note.
type reading struct {
	sources []topicqueue.Source
	parts   []recheck.Part // of sources
	asked   []string       // calls that returned them; none: the sources are a whole collection
	size    int            // bytes of text in one note call
	shares  passageShares  // for the form without a model
}

// read notes the parts of a reading: those of a document together, and the chunks after the first in parallel.
func (w *work) read(ctx context.Context, k int, r reading) (note, error) {
	if w.Model == nil {
		return note{found: extract(r.sources, r.parts, r.shares)}, nil
	}
	if len(r.asked) > 0 {
		r.parts = mostRelevant(r.parts, w.question(), r.size*maxNotes*len(r.asked))
	}
	chunks := pack(byDocument(r.sources, r.parts), r.size)
	takers := make([]noteTaker, len(chunks))
	var away atomic.Bool
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(w.maxActions())
	for n, chunk := range chunks {
		takers[n] = noteTaker{work: w, reading: r, k: k, ordinal: n * ordinalStep, away: &away}
		read := func() error { return takers[n].read(groupCtx, adjoined(chunk), r.size) }
		if n > 0 { // the first shows whether the model answers
			group.Go(read)
		} else if err := read(); err != nil {
			return note{}, causeOr(ctx, err)
		}
	}
	err := group.Wait()
	all := note{away: away.Load()}
	for _, t := range takers {
		all.found, all.orders = append(all.found, t.note.found...), append(all.orders, t.note.orders...)
		for _, line := range t.fallbacks {
			w.fallBack(line)
		}
	}
	return all, causeOr(ctx, err)
}

// causeOr returns the cause of the end of ctx if it has ended, or else err.
func causeOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// noteTaker takes the note of one chunk. It shares no mutable state with other noteTakers, except away.
type noteTaker struct {
	*work
	reading
	k         int
	ordinal   int // ordinal of the next call
	note      note
	away      *atomic.Bool // the model server is unavailable: the rest is read without it
	fallbacks []string
}

// read asks the model for the note of one chunk of at most limit bytes.
func (t *noteTaker) read(ctx context.Context, chunk []recheck.Part, limit int) error {
	if t.away.Load() {
		t.extract(chunk)
		return nil
	}
	prompt := prompts.Note(t.run.Options.Language, t.data(chunk))
	answer, err := llm.Ask[prompts.NoteAnswer](ctx, t.Model, llm.Request{
		Position: t.position(t.k, prompt.Name, t.ordinal),
		Role:     llm.Note,
		Prompt:   prompt,
	})
	t.ordinal++
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, llm.ErrContextLength) && limit/2 >= minNoteBytes:
		for _, half := range pack(cutPieces(chunk, limit/2), limit/2) {
			if err := t.read(ctx, half, limit/2); err != nil {
				return err
			}
		}
		return nil
	case errors.Is(err, llm.ErrContextLength), errors.Is(err, llm.ErrAnswer), errors.Is(err, llm.ErrUnavailable):
		if errors.Is(err, llm.ErrUnavailable) {
			t.away.Store(true)
		}
		t.fallBack("%s", topicqueue.Clip(topicqueue.OneLine(llm.Why(err)), maxLine))
		t.extract(chunk)
		return nil
	default:
		return fmt.Errorf("note sources of %s: %w", t.block.ID, err)
	}
	found := t.check(chunk, answer.Claims)
	if len(answer.Claims) > 0 && len(found) == 0 {
		t.fallBack("no quote of the model stood in the source")
		t.extract(chunk)
	}
	t.note.found = append(t.note.found, found...)
	t.note.orders = append(t.note.orders, t.checkOrders(chunk, answer.Orders)...)
	return nil
}

// extract notes the passages of pieces without a model.
func (t *noteTaker) extract(pieces []recheck.Part) {
	for _, f := range extract(t.sources, pieces, t.shares) {
		f.Block = t.about("", f.Text)
		t.note.found = append(t.note.found, f)
	}
}

// summaryOf joins the texts of findings.
func summaryOf(found []recheck.Finding) string {
	texts := make([]string, len(found))
	for i, f := range found {
		texts[i] = topicqueue.OneLine(f.Text)
	}
	return topicqueue.Clip(strings.Join(texts, " "), maxSummary)
}

// fallBack records a fallback. It shadows the method of work, which belongs to another goroutine.
func (t *noteTaker) fallBack(format string, args ...any) {
	t.fallbacks = append(t.fallbacks, fmt.Sprintf("note: "+format+" (%s/%d)", append(args, t.block.ID, t.k)...))
}

// Claims that one note may have: bytes of text per claim, in addition to leastClaims. A report knows of a document only
// what was noted, so what is read whole is noted densely: a sentence has about 150 bytes.
const (
	leastClaims = 20
	claimEvery  = 160
)

// data builds the prompt data of a chunk.
func (t *noteTaker) data(chunk []recheck.Part) prompts.NoteData {
	d := prompts.NoteData{Topic: t.work.asked(), Asked: t.asked, Own: t.block.ID, Purpose: t.block.Overview,
		Most: leastClaims * max(1, len(t.asked))}
	for _, b := range t.view.Blocks {
		d.Blocks = append(d.Blocks, prompts.NoteBlock{ID: b.ID, Title: b.Title, Overview: t.overviews[b.ID]})
	}
	size := 0
	for i, group := range documents(t.sources, chunk) {
		d.Sources = append(d.Sources, document(i+1, t.sources, group))
		for _, p := range group {
			size += len(p.Text)
		}
	}
	if len(t.asked) == 0 {
		d.Most += size / claimEvery
	}
	return d
}
