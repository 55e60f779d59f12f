package topicqueue

import (
	"slices"
	"strings"
	"unicode"
)

// Common records which words the topics of a list share, so that shortened topics keep the words that differ. The
// zero value is ready for use. It is not safe for concurrent use.
type Common struct {
	topics int
	words  map[string]int // number of topics that contain a word
}

// mostWords is the maximum number of words counted. Words that most topics share occur early.
const mostWords = 20_000

// Add counts the words of a topic.
func (c *Common) Add(topic string) {
	if c.words == nil {
		c.words = map[string]int{}
	}
	c.topics++
	var of []string
	for _, piece := range pieces(topic) {
		of = append(of, strings.TrimSpace(piece))
	}
	slices.Sort(of)
	for _, word := range slices.Compact(of) {
		if _, known := c.words[word]; known || len(c.words) < mostWords {
			c.words[word]++
		}
	}
}

// Shorten replaces words of a topic by "…" until its width is at most limit. It replaces sequences of words that more
// than half of the topics share, the longest first. If that does not suffice, the result is still wider. width
// returns the width of a text in any unit.
func (c *Common) Shorten(topic string, limit int, width func(string) int) string {
	if width(topic) <= limit || c.topics < 2 {
		return topic
	}
	words := pieces(topic)
	type sequence struct{ begin, end, width int }
	var shared []sequence
	for i := 0; i < len(words); i++ {
		begin := i
		for i < len(words) && 2*c.words[strings.TrimSpace(words[i])] > c.topics {
			i++
		}
		if w := width(strings.Join(words[begin:i], "")); w > len(" …") {
			shared = append(shared, sequence{begin, i, w})
		}
	}
	slices.SortStableFunc(shared, func(a, b sequence) int { return b.width - a.width })
	for _, s := range shared {
		if width(strings.Join(words, "")) <= limit {
			break
		}
		first := words[s.begin]
		clear(words[s.begin:s.end])
		words[s.begin] = first[:len(first)-len(strings.TrimLeftFunc(first, unicode.IsSpace))] + "…"
	}
	return strings.TrimSpace(strings.Join(words, ""))
}

// pieces splits a text into words, each with the space before it. A Chinese or Japanese character is a word.
func pieces(text string) []string {
	var out []string
	begin, space := 0, true // space: only white space since begin
	for i, r := range text {
		sign := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
		if (unicode.IsSpace(r) || sign) && !space {
			out = append(out, text[begin:i])
			begin, space = i, true
		}
		if !unicode.IsSpace(r) {
			space = false
		}
		if sign {
			end := i + len(string(r))
			out = append(out, text[begin:end])
			begin, space = end, true
		}
	}
	if !space {
		out = append(out, text[begin:])
	}
	return out
}
