package researching

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	ordinalStep  = 100 // ordinals of note calls: action x 100 + call; 5 calls halved three times are at most 75
	// maxNotes is the maximum number of note calls per reading, before halving. The least relevant text stays unread.
	// Of 273 quotes that ten blocks took from 32 documents, 254 are in the text that four calls select from all 190 kB
	// in parts of choiceBytes. Three calls have 233, and six calls with parts of noteBytes have 251.
	maxNotes    = 4
	choiceBytes = 2_000
)

// note is the result of reading the sources of one tool call.
type note struct {
	summary string
	found   []recheck.Finding
}

// takeNotes reads the fresh sources of all outcomes in parallel. notes[i] belongs to outcomes[i].
func (w *work) takeNotes(ctx context.Context, k int, outcomes []outcome) ([]note, error) {
	notes := make([]note, len(outcomes))
	shares := w.bestShares(outcomes)
	readings := w.readings(outcomes)
	lines := make([][]string, len(readings)) // fallbacks of each reading
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(w.maxActions())
	for n, r := range readings {
		group.Go(func() error {
			t := noteTaker{work: w, outcome: r.outcome, asked: r.asked, k: k, ordinal: r.of[0] * ordinalStep, shares: shares}
			err := t.take(groupCtx)
			r.share(t.note, outcomes, notes)
			lines[n] = t.fallbacks
			return err
		})
	}
	err := group.Wait()
	for _, l := range lines {
		for _, line := range l {
			w.fallBack(line)
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return notes, err
}

// reading is the work of one noteTaker: the fresh sources of one or more calls that fit one prompt.
type reading struct {
	outcome          // first call, with the sources of all calls
	of      []int    // indexes of the calls
	asked   []string // their queries
	bytes   int
}

// readings groups outcomes with text to read, as far as they fit one prompt.
func (w *work) readings(outcomes []outcome) []*reading {
	var out []*reading
	var open *reading
	for i, o := range outcomes {
		if len(o.fresh) == 0 || o.only != nil && len(o.only) == 0 {
			continue
		}
		r := &reading{outcome: o, of: []int{i}, asked: []string{o.line()}}
		for _, s := range o.fresh {
			r.bytes += len(s.Text)
		}
		switch alone := w.Model == nil || o.only != nil; {
		case alone:
			out = append(out, r)
		case open != nil && open.bytes+r.bytes <= noteBytes:
			open.fresh = append(slices.Clip(open.fresh), r.fresh...)
			open.of, open.asked, open.bytes = append(open.of, i), append(open.asked, r.asked...), open.bytes+r.bytes
		default:
			open = r
			out = append(out, r)
		}
	}
	return out
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

// share assigns the findings to the calls of their sources.
func (r *reading) share(n note, outcomes []outcome, notes []note) {
	first := 0 // index of the call's first source
	for _, i := range r.of {
		after := first + len(outcomes[i].fresh)
		for _, f := range n.found {
			if f.Source >= first && f.Source < after {
				f.Source -= first
				notes[i].found = append(notes[i].found, f)
			}
		}
		notes[i].summary = summaryOf(notes[i].found)
		first = after
	}
}

// noteTaker takes the note of one reading. It shares no mutable state with other noteTakers.
type noteTaker struct {
	*work
	outcome   outcome
	asked     []string
	shares    passageShares
	k         int
	ordinal   int // ordinal of the next call
	note      note
	away      bool // the model server is unavailable: the rest is read without it
	fallbacks []string
}

// take reads the sources, long ones in chunks.
func (t *noteTaker) take(ctx context.Context) error {
	pieces := cut(t.outcome.fresh, noteBytes)
	if t.outcome.only != nil {
		pieces = cutPieces(t.outcome.only, noteBytes)
		defer t.dropOld()
	}
	if t.Model == nil {
		t.extract(pieces)
		return nil
	}
	pieces = mostRelevant(pieces, t.question(), noteBytes*maxNotes)
	for _, chunk := range pack(pieces, noteBytes) {
		if err := t.read(ctx, adjoined(chunk), noteBytes); err != nil {
			return err
		}
	}
	return nil
}

// dropOld removes findings outside the new pieces.
func (t *noteTaker) dropOld() {
	t.note.found = slices.DeleteFunc(t.note.found, func(f recheck.Finding) bool {
		return !slices.ContainsFunc(t.outcome.only, func(p recheck.Part) bool {
			return p.Source == f.Source && p.At < f.End && f.Start < p.At+len(p.Text)
		})
	})
}

// read asks the model for the note of one chunk of at most limit bytes.
func (t *noteTaker) read(ctx context.Context, chunk []recheck.Part, limit int) error {
	if t.away {
		t.extract(chunk)
		return nil
	}
	prompt := prompts.Note(t.run.Options.Language, prompts.NoteData{
		Topic:    t.work.asked(),
		Title:    t.block.Title,
		Overview: t.block.Overview,
		Asked:    t.asked,
		Sources:  t.passages(chunk),
	})
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
		t.away = errors.Is(err, llm.ErrUnavailable)
		t.fallBack("%s", topicqueue.Clip(topicqueue.OneLine(llm.Why(err)), maxLine))
		t.extract(chunk)
		return nil
	default:
		return fmt.Errorf("note %s: %w", t.outcome.ID, err)
	}
	found := t.check(chunk, answer.Claims)
	if len(answer.Claims) > 0 && len(found) == 0 {
		t.fallBack("no quote of the model stood in the source")
		t.extract(chunk)
		return nil
	}
	t.note.found = append(t.note.found, found...)
	return nil
}

// extract notes the passages of pieces without a model.
func (t *noteTaker) extract(pieces []recheck.Part) {
	t.note.found = append(t.note.found, extract(t.outcome, pieces, t.shares)...)
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
	t.fallbacks = append(t.fallbacks, fmt.Sprintf("note: "+format+" (%s)", append(args, t.outcome.ID)...))
}

// passages converts a chunk for the prompt, with pieces numbered from 1.
func (t *noteTaker) passages(chunk []recheck.Part) []prompts.Passage {
	out := make([]prompts.Passage, len(chunk))
	begun := map[string]bool{}
	for i, p := range chunk {
		s := t.outcome.fresh[p.Source]
		out[i] = prompts.Passage{ID: strconv.Itoa(i + 1), Title: topicqueue.OneLine(s.Title), By: s.By(), Date: s.Date,
			Place: s.Place(), Text: p.Text}
		if head := s.HeadAt(p.At); !begun[s.Document+s.URL] { // once per document
			begun[s.Document+s.URL] = true
			out[i].Head = head
		}
	}
	return out
}
