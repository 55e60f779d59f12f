package support

import (
	"maps"
	"unicode/utf8"

	"nightdesk/pipeline/quantity"
)

// turn is a word of an axis in a text, with the content words around it.
type turn struct {
	at     int // word
	raw    string
	pole   pole
	word   string         // in lower case
	beside [2]string      // content words before and behind it
	near   map[string]int // with their distance in words
}

// beside returns the content words next to word i, "" where there is none.
func beside(words []word, i int) (found [2]string) {
	for j := i - 1; j >= 0 && found[0] == ""; j-- {
		found[0] = words[j].term()
	}
	for j := i + 1; j < len(words) && found[1] == ""; j++ {
		found[1] = words[j].term()
	}
	return found
}

// nearWords is how far around a word its anchors are looked for.
const nearWords = 6

// turns finds the words of axes; a denied one stands on the other side.
func turns(s string, words []word) []turn {
	var out []turn
	denied := map[string]bool{}
	for _, n := range negations(s, words) {
		if n.trigger {
			denied[n.head] = true
		}
		if n.trigger && n.word == "none" { // none of the advisers loses his job
			maps.Copy(denied, n.scope)
		}
	}
	for i, w := range words {
		if dates(words, i) || bounds(words, i) || lasts(words, i) || compass[w.low] && hyphenedWord(s, w) || consistent(s, words, i) {
			continue
		}
		for _, p := range polesAt(words, i) {
			if denied[w.term()] && w.term() != "" || ceases(words, i) {
				p.side = -p.side
			}
			t := turn{at: i, raw: w.raw, pole: p, near: map[string]int{}, beside: beside(words, i), word: w.low}
			for j := max(0, i-nearWords); j < min(len(words), i+nearWords+1); j++ {
				term, distance := words[j].term(), max(i-j, j-i)
				apart := j != i && clauseBetween(s, words[min(i, j)].end, words[max(i, j)].start)
				if words[j].number() && !apart {
					term = words[j].low
				}
				if j != i && term != "" && !(apart && words[j].number()) && len(polesOf(words[j])) == 0 {
					if apart {
						distance += nearWords
					}
					if d, known := t.near[term]; !known || distance < d {
						t.near[term] = distance
					}
				}
			}
			out = append(out, t)
		}
	}
	return out
}

// ceases reports a noun of which a word shortly behind it says that it is no more: support for it was dropped.
func ceases(words []word, i int) bool {
	for j := i + 1; j < len(words) && j <= i+4; j++ {
		if ceasing[words[j].low] && words[j-1].low != "for" { // not: for lack of
			return isNoun(words, i) || i+1 < len(words) && (words[i+1].low == "for" || words[i+1].low == "für")
		}
	}
	return false
}

// dates reports a word that tells when by a span of time or by another value, and orders nothing: a year earlier, after
// £4.4 billion the year before.
func dates(words []word, i int) bool {
	switch words[i].low {
	case "earlier", "later", "before", "after", "prior", "previously":
		return i > 0 && spans[words[i-1].low] || i+1 < len(words) && words[i+1].number()
	}
	return false
}

// bounds reports a word that limits a number: more than three times, at least 5.
func bounds(words []word, i int) bool {
	switch words[i].low {
	case "more", "less", "fewer", "mehr", "weniger":
	case "most", "least":
		return i > 0 && words[i-1].low == "at"
	default:
		return false
	}
	if i+2 >= len(words) || words[i+1].low != "than" && words[i+1].low != "als" {
		return false
	}
	return words[i+2].number() || smallNumbers[words[i+2].low]
}

var smallNumbers = set(`a an one two three four five six seven eight nine ten eleven twelve half twice double zwei drei vier fünf sechs sieben acht neun zehn elf zwölf doppelt`)

// lasts reports "last" as a verb: stacks last 20,000 hours.
func lasts(words []word, i int) bool {
	if words[i].low != "last" || i == 0 {
		return false
	}
	before := words[i-1]
	return len(before.terms) > 0 && !before.capital() && !before.number() || before.low == "will" || before.low == "can" || before.low == "to"
}

// compass words are parts of names as well.
var compass = set(`east west north south up down`)

// hyphenedWord reports a part of a compound: us-east, up-to-date.
func hyphenedWord(s string, w word) bool {
	return w.start > 0 && s[w.start-1] == '-' || w.end < len(s) && s[w.end] == '-'
}

// consistent reports a comparison or a change whose own two figures bear it out: 74.6%, less than the 84.7% of others; 11%,
// down from 14%. Whether the figures are right is checked elsewhere.
func consistent(s string, words []word, i int) bool {
	side, ok := comparison(words, i)
	if !ok {
		return false
	}
	a, b, ok := compared(s, words[i])
	return ok && (a.Low-b.Low)*float64(side) > 0
}

// comparison returns the side of a word that compares what stands before it with what stands behind: more than, up from.
func comparison(words []word, i int) (side int, ok bool) {
	if i+1 >= len(words) {
		return 0, false
	}
	next := words[i+1].low
	switch words[i].low {
	case "up":
		return 1, next == "from"
	case "down":
		return -1, next == "from"
	}
	side, ok = amount(words[i])
	return side, ok && (next == "than" || next == "als")
}

// compared returns the values next to a word on both sides, of one kind.
func compared(s string, w word) (a, b quantity.Quantity, ok bool) {
	from, to := max(0, w.start-120), min(len(s), w.end+80)
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	before, behind := quantity.Parse(s[from:w.start]), quantity.Parse(s[w.end:to])
	for _, q := range behind {
		if q.Kind == quantity.Date {
			continue
		}
		for i := len(before) - 1; i >= 0; i-- {
			if before[i].Kind == q.Kind && before[i].Unit == q.Unit {
				return before[i], q, true
			}
		}
		break
	}
	return a, b, false
}

var spans = set(`year years month months week weeks day days hour hours minute minutes decade decades century centuries season`)
