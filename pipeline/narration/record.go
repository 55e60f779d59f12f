package narration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/text"
)

// Turn is a continuous text of one voice.
type Turn struct {
	Voice int // 0 or 1
	Text  string
}

// Piece is the text of one engine call: one or a few sentences.
type Piece struct {
	Voice int // 0 or 1
	Text  string
	pause time.Duration // silence after the piece
}

// Lengths of a piece, in letters. A Chinese character counts as four letters, because it takes about as long to say.
const (
	usualPiece   = 260  // comfortable length of a transcript cue
	longestPiece = 1000 // maximum; servers reject much longer texts
)

const (
	shortPause = 200 * time.Millisecond // between sentences
	longPause  = 550 * time.Millisecond // between turns
)

// Pieces splits a script at sentence ends.
func Pieces(script []Turn) []Piece {
	var out []Piece
	for _, turn := range script {
		at := len(out)
		start, end := -1, 0
		flush := func() {
			if start >= 0 {
				out = append(out, Piece{Voice: turn.Voice, Text: strings.TrimSpace(turn.Text[start:end]), pause: shortPause})
			}
			start = -1
		}
		for _, s := range text.ParagraphSentences(turn.Text) {
			if start >= 0 && letters(turn.Text[start:s.End]) > usualPiece {
				flush()
			}
			for ; letters(turn.Text[s.Start:s.End]) > longestPiece; s.Start = end {
				start, end = s.Start, s.Start+cutAt(turn.Text[s.Start:s.End])
				flush()
			}
			if start < 0 {
				start = s.Start
			}
			end = s.End
		}
		flush()
		if len(out) > at {
			out[len(out)-1].pause = longPause
		}
	}
	return out
}

func letters(s string) (n int) {
	for _, r := range s {
		n++
		if text.Wide(r) {
			n += 3
		}
	}
	return n
}

// cutAt returns where to split an overlong sentence: after the last space or punctuation mark within the limit.
func cutAt(s string) int {
	at, used := 0, 0
	for i, r := range s {
		if used += letters(string(r)); used > longestPiece {
			return cmp.Or(at, i)
		}
		if unicode.IsSpace(r) || unicode.IsPunct(r) {
			at = i + utf8.RuneLen(r)
		}
	}
	return len(s)
}

// Recording is a spoken script.
type Recording struct {
	Sound
	Cues []Cue
}

// atOnce is the number of parallel calls.
const atOnce = 4

// Record speaks all pieces in parallel and joins the sounds. say converts a piece to a WAV file; its first error stops
// the recording.
func Record(ctx context.Context, pieces []Piece, say func(context.Context, Piece) ([]byte, error)) (Recording, error) {
	if len(pieces) == 0 {
		return Recording{}, errors.New("the script is empty")
	}
	sounds, pauses := make([]Sound, len(pieces)), make([]time.Duration, len(pieces))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, p := range pieces {
		pauses[i] = p.pause
		group.Go(func() error {
			if groupCtx.Err() != nil {
				return context.Cause(groupCtx)
			}
			body, err := say(groupCtx, p)
			if err != nil {
				return err
			}
			if sounds[i], err = ReadWAV(body); err != nil {
				return fmt.Errorf("read the audio of %q: %w", text.Clip(p.Text, 40), err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		if ctx.Err() != nil {
			return Recording{}, context.Cause(ctx)
		}
		return Recording{}, err
	}
	sound, starts, err := join(sounds, pauses)
	if err != nil {
		return Recording{}, err
	}
	r := Recording{Sound: sound}
	two := slices.ContainsFunc(pieces, func(p Piece) bool { return p.Voice > 0 })
	for i, p := range pieces {
		c := Cue{Start: starts[i], End: starts[i] + sounds[i].Duration(), Text: p.Text}
		if two {
			c.Speaker = string(rune('A' + p.Voice))
		}
		r.Cues = append(r.Cues, c)
	}
	return r, nil
}
