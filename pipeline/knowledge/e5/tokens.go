package e5

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// The tokens that every text begins and ends with, and the one of what no piece covers.
const (
	startToken   = 0
	endToken     = 2
	unknownToken = 3
)

// tokenizer splits text into pieces of the vocabulary by the unigram model of SentencePiece (Kudo 2018): of all
// splits the one with the highest probability.
type tokenizer struct {
	pieces  map[string]piece
	unknown float32 // score of a character that no piece covers
	longest int     // bytes of the longest piece
	normal  map[rune][]rune
}

type piece struct {
	id    int
	score float32
}

// ids returns at most limit ids of a text.
func (t *tokenizer) ids(text string, limit int) []int {
	text = t.normalise(text)
	type step struct {
		score float32
		from  int
		id    int
	}
	best := make([]step, len(text)+1) // by the byte where a split ends
	for i := range best {
		best[i].score = float32(math.Inf(-1))
	}
	best[0].score = 0
	for i := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		if s := best[i].score + t.unknown; s > best[i+size].score {
			best[i+size] = step{s, i, unknownToken}
		}
		for to := i + size; to <= min(i+t.longest, len(text)); {
			if p, ok := t.pieces[text[i:to]]; ok && p.id != unknownToken {
				if s := best[i].score + p.score; s > best[to].score {
					best[to] = step{s, i, p.id}
				}
			}
			if to == len(text) {
				break
			}
			_, next := utf8.DecodeRuneInString(text[to:])
			to += next
		}
	}
	var ids []int
	for i := len(text); i > 0; i = best[i].from {
		ids = append(ids, best[i].id)
	}
	slices.Reverse(ids)
	return ids[:min(len(ids), limit)]
}

// normalise maps characters as the vocabulary was made, and marks the beginnings of words instead of spaces.
func (t *tokenizer) normalise(text string) string {
	var b strings.Builder
	space := false
	for i, r := range " " + strings.ToValidUTF8(text, " ") {
		to, ok := t.normal[r]
		if !ok {
			to = []rune{r}
		}
		if i == 1 && len(to) > 0 && to[0] == ' ' {
			to = to[1:]
		}
		for _, r := range to {
			if r != ' ' {
				b.WriteRune(r)
			} else if !space {
				b.WriteRune('▁')
			}
			space = r == ' '
		}
	}
	return b.String()
}
