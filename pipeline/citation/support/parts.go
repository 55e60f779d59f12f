package support

import (
	"maps"
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
)

// A part is a stretch of a sentence that belongs to one name, or to several that stand together: "The medals were
// presented by Irena Szymczak" and "the flowers by Sebastian Cole" are two parts of one sentence.
type part struct {
	from, to int // words
	names    []run
	terms    map[string]bool // content words, those of its names included
	pronoun  int             // the first word that speaks of a name that stands before it; -1: none
}

// run is a name in a text: words in a row.
type run struct{ first, last int }

// anaphoric words speak of what was named before.
var anaphoric = set(`he she it they him her them his its their hers theirs this these those former latter both er sie es ihr ihm ihn ihnen sein seine seiner ihre ihrer dieser diese dieses who whose`)

// relativeStart words begin a part that goes on about the name before it.
var relativeStart = set(`who which whose whom where that now then previously formerly`)

// partsOf cuts words[from:to] between its names. A list of names is not cut.
func partsOf(text string, words []word, from, to int, isName func(int) bool) []part {
	var runs []run
	for i := from; i < to; i++ {
		if !isName(i) {
			continue
		}
		if n := len(runs); n > 0 && runs[n-1].last == i-1 && joined(text, words, i) {
			runs[n-1].last = i
			continue
		}
		runs = append(runs, run{i, i})
	}
	out := []part{{from: from, to: to}}
	for k, r := range runs {
		if k > 0 {
			if at := partedAt(text, words, runs[k-1], r); at > 0 {
				out[len(out)-1].to = at
				out = append(out, part{from: at, to: to})
			}
		}
		out[len(out)-1].names = append(out[len(out)-1].names, r)
	}
	for i := 0; i < len(out) && len(out) > 1; i++ { // what has no words of its own shares those of its neighbour
		switch bare := out[i].bare(words); {
		case i > 0 && (relativeStart[words[out[i].from].low] || elided(words, words[out[i].from].start) || bare && i == len(out)-1):
			out[i-1].to, out[i-1].names = out[i].to, append(out[i-1].names, out[i].names...)
			out = slices.Delete(out, i, i+1)
			i--
		case bare && i+1 < len(out):
			out[i+1].from, out[i+1].names = out[i].from, append(out[i].names, out[i+1].names...)
			out = slices.Delete(out, i, i+1)
			i--
		}
	}
	for i := range out {
		out[i].terms, out[i].pronoun = map[string]bool{}, -1
		for j := out[i].from; j < out[i].to; j++ {
			if anaphoric[words[j].low] && out[i].pronoun < 0 && !out[i].possessed(text, words, j) {
				out[i].pronoun = j
			}
			switch term := words[j].term(); {
			case words[j].number() && len(words[j].raw) > 2: // a year, 549 points: short ones tell little
				out[i].terms[words[j].low] = true
			case term != "" && !words[j].number():
				out[i].terms[term] = true
			}
		}
	}
	return out
}

// possessed reports a pronoun whose thing has a name behind it, of which the part speaks: Her predecessor, Erik Dahl, had resigned.
func (p part) possessed(text string, words []word, j int) bool {
	if !possessive[words[j].low] || j+2 >= p.to || words[j+1].term() == "" {
		return false
	}
	return slices.ContainsFunc(p.names, func(r run) bool {
		between := strings.TrimSpace(text[words[j+1].end:max(words[j+1].end, words[r.first].start)])
		return r.first == j+2 && (between == "," || between == "")
	})
}

var possessive = set(`his her hers its their sein seine seiner ihr ihre ihrer`)

// joined reports that word i and the one before it may be of one name.
func joined(text string, words []word, i int) bool {
	between := text[words[i-1].end:max(words[i-1].end, words[i].start)]
	return between == " " || between == "-" || between == ". " && len(words[i-1].raw) == 1
}

// bare reports a part without content words besides its names.
func (p part) bare(words []word) bool {
	for i := p.from; i < p.to; i++ {
		if words[i].term() != "" && !words[i].number() && !p.named(i) {
			return false
		}
	}
	return true
}

// partedAt returns the word that a new part begins with between two names, 0 when they stand together.
func partedAt(text string, words []word, a, b run) int {
	from, to := words[a.last].end, words[b.first].start
	switch strings.TrimSpace(text[from:max(from, to)]) {
	case ",", "and", ", and", "&", "und", "or", "/", "-", "et":
		return 0
	}
	at, rank := cutRank(text, words, from, to)
	if rank < cutWord {
		return 0
	}
	i, _ := slices.BinarySearchFunc(words, at, func(w word, b int) int { return w.start - b })
	return i
}

// nameParts returns the parts of a unit of a source.
func (t *text) nameParts(u int) []part {
	if p, known := t.parts[u]; known {
		return p
	}
	unit := t.units[u]
	var found []part
	if unit.to-unit.from <= maxPartWords && strings.Count(t.Text[unit.start:unit.end], "|") < 2 { // a table is bound by its rows and columns
		found = partsOf(t.Text, t.words, unit.from, unit.to, t.nameAt)
	}
	for i := 1; i < len(found); i++ {
		if t.leavesOut(found[i], u) {
			maps.Copy(found[i].terms, found[i-1].besidesNames(t.words))
		}
	}
	if t.parts == nil {
		t.parts = map[int][]part{}
	}
	t.parts[u] = found
	return found
}

// leavesOut reports a part that has but names and values: what it says of them is what the part before it says. In 2023 Germany
// installed 5 GWh of storage, France 2 GWh.
func (t *text) leavesOut(p part, unit int) bool {
	values := t.inUnit(unit)
	for i := p.from; i < p.to; i++ {
		w := t.words[i]
		if w.term() == "" || w.number() || w.capital() || i > p.from && t.words[i-1].number() || superlative[w.low] || i+1 < p.to && t.words[i+1].low == "of" {
			continue
		}
		if !slices.ContainsFunc(values, func(v quantity.Quantity) bool { return w.start >= v.Start && w.end <= v.End }) {
			return false
		}
	}
	return true
}

// named reports a word that belongs to a name of the part.
func (p part) named(i int) bool {
	return slices.ContainsFunc(p.names, func(r run) bool { return i >= r.first && i <= r.last })
}

// besidesNames returns the terms of a part that are not those of its names.
func (p part) besidesNames(words []word) map[string]bool {
	out := maps.Clone(p.terms)
	for _, r := range p.names {
		for _, w := range words[r.first : r.last+1] {
			delete(out, w.term())
		}
	}
	return out
}

// maxPartWords bounds a sentence whose parts can be told.
const maxPartWords = 120

// nameAt reports that a word of a source belongs to a name. In German, where all nouns have capitals, only words beside
// another capital are names.
func (t *text) nameAt(i int) bool {
	return isNameAt(t.Text, t.words, i, t)
}

func isNameAt(text string, words []word, i int, t *text) bool {
	w := words[i]
	if !w.capital() || w.term() == "" || calendar[w.low] || w.number() {
		return false
	}
	if w.code() {
		return true
	}
	beside := i > 0 && words[i-1].capital() && words[i-1].term() != "" && !calendar[words[i-1].low] && joined(text, words, i) ||
		i+1 < len(words) && words[i+1].capital() && words[i+1].term() != "" && !calendar[words[i+1].low] && joined(text, words, i+1)
	if t.language == "de" {
		return beside
	}
	return beside || t.capitals[w.term()] && !t.small[w.term()]
}
