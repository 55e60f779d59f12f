package support

import (
	"slices"
	"strings"
)

// deed is a verb of a text with the name of who did it: directed by Olga Maric.
type deed struct {
	verb   string // its stem
	first  word   // of the name
	last   word
	listed bool // several names did it together
}

// deeds finds verbs with "by" and a name behind them.
func deeds(text string, words []word) []deed {
	var out []deed
	for i := range words {
		if i == 0 || !agent(words[i].low) || words[i-1].term() == "" || words[i-1].capital() || words[i-1].number() {
			continue
		}
		j := i + 1
		for j < len(words) && j <= i+agentWords && !words[j].capital() && text[words[j-1].end:words[j].start] == " " { // by the architect Lena Okafor
			j++
		}
		if j >= len(words) || j > i+agentWords || !words[j].capital() || words[j].term() == "" || calendar[words[j].low] || text[words[j-1].end:words[j].start] != " " {
			continue
		}
		d := deed{verb: words[i-1].term(), first: words[j], last: words[j]}
		for j++; j < len(words) && words[j].capital() && joined(text, words, j); j++ {
			d.last = words[j]
		}
		d.listed = j < len(words) && words[min(j+1, len(words)-1)].capital() && (words[j].low == "and" || words[j].low == "und") || j < len(words) && words[j].capital() && strings.HasPrefix(text[d.last.end:], ", ")
		out = append(out, d)
	}
	return out
}

// agentWords is how far behind "by" a name may begin.
const agentWords = 4

// otherAgent returns the name of the sentence that did something according to it, where the sources say who else did that, and
// name it for something else: directed by A and written by B, for "directed by B".
func (s *statement) otherAgent(texts []*text) string {
	for _, d := range deeds(s.text, s.words) {
		other, same, elsewhere := false, false, false
		for _, t := range texts {
			for _, u := range t.postings[d.verb] {
				unit := t.units[u]
				words := t.words[unit.from:unit.to]
				if len(words) > maxPartWords {
					continue
				}
				found := false
				for _, o := range deeds(t.Text, words) {
					if o.verb != d.verb {
						continue
					}
					found = true
					shares := slices.ContainsFunc(words, func(w word) bool {
						return w.start >= o.first.start && w.end <= o.last.end && (w.low == d.first.low || w.low == d.last.low)
					})
					same = same || shares || o.listed && slices.ContainsFunc(words, func(w word) bool { return w.low == d.last.low })
					other = other || !shares
				}
				same = same || !found && slices.ContainsFunc(words, func(w word) bool { return w.low == d.last.low }) // in other words
			}
			elsewhere = elsewhere || t.has[d.last.low]
		}
		if other && !same && elsewhere {
			return s.text[d.first.start:d.last.end]
		}
	}
	return ""
}
