package support

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// name is a name in a sentence: capitalised words in a row, an acronym, something from code.
type name struct {
	words []int // indexes into the statement's words
	weak  bool  // it begins the sentence and may be an ordinary word
}

// calendar words are capitalised and no names; dates are checked as such.
var calendar = set(`january february march april may june july august september october november december monday tuesday wednesday thursday
	friday saturday sunday jan feb mar apr jun jul aug sep sept oct nov dec i ii iii iv a b c d e x y fig figure table section chapter
	according however although while whereas both many most some these those such other another each several all no not only also
	furthermore moreover additionally therefore thus hence consequently meanwhile finally overall similarly conversely instead
	chinese-language english-language its it's there here why how what when where who which whether yes`)

// findNames returns the names of a sentence. In German every noun has a capital, and in a headline every word: there only
// what is written like code or an acronym is taken for a name.
func (s *statement) findNames() []name {
	capitals, letters := 0, 0
	for _, w := range s.words {
		if len(w.terms) > 0 && !w.number() && !s.inQuantity(w) {
			letters++
			if w.capital() {
				capitals++
			}
		}
	}
	plainCapitals := s.language != "de" && !(letters > 5 && 10*capitals > 8*letters)
	var out []name
	for i := 0; i < len(s.words); i++ {
		if !s.isName(i, plainCapitals) {
			continue
		}
		n := name{words: []int{i}, weak: s.begins(i) && !s.words[i].code()}
		for !s.words[i].code() && i+1 < len(s.words) && s.isName(i+1, plainCapitals) && !s.words[i+1].code() && s.words[i+1].start-s.words[i].end == 1 && s.text[s.words[i].end] == ' ' {
			i++
			n.words = append(n.words, i)
			n.weak = false
		}
		out = append(out, n)
	}
	return out
}

func (s *statement) isName(i int, plainCapitals bool) bool {
	w := s.words[i]
	if w.number() && !w.code() || s.inQuantity(w) || calendar[w.low] {
		return false
	}
	if w.code() {
		return true
	}
	return plainCapitals && w.capital() && len(w.terms) > 0 && utf8.RuneCountInString(w.raw) > 1
}

// begins reports a word that is capitalised because a sentence, a quotation or what follows a colon begins with it.
func (s *statement) begins(i int) bool {
	before := strings.TrimRight(s.text[:s.words[i].start], " \t\n\"'“‘(*_")
	if before == "" {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	return strings.ContainsRune(".!?:;。！？：；", last) || strings.TrimRight(s.text[:s.words[i].start], " ") != before
}

// knows reports whether a source has the word of a name, in any case, hyphenation or inflection.
func (t *text) knows(w word) bool {
	low := strings.Trim(w.low, "._")
	switch {
	case t.has[low], t.has[strings.TrimSuffix(low, "s")], t.has[low+"s"], t.has[w.term()]:
		return true
	case t.initials[low] && w.raw == strings.ToUpper(w.raw):
		return true
	case demonyms[low] != "" && t.has[demonyms[low]]:
		return true
	}
	if len(low) >= 5 && (strings.Contains(t.folded.text, low) || strings.Contains(t.about, low)) {
		return true
	}
	if w.code() && strings.ContainsAny(low, "._") {
		return false
	}
	for _, ending := range peopleEndings { // Germany's, German; Canadian, Canada
		if stem, ok := strings.CutSuffix(low, ending); ok && len(stem) >= 4 {
			for _, other := range peopleEndings {
				if t.has[stem+other] {
					return true
				}
			}
		}
	}
	return false
}

var peopleEndings = []string{"ians", "ian", "ish", "ese", "ans", "an", "ns", "n", "a", "y", "ia", "s", "e", "ic", ""}

var demonyms = readPairs(`french france, spanish spain, dutch netherlands, british britain, uk britain, swiss switzerland, danish denmark,
	polish poland, turkish turkey, swedish sweden, finnish finland, irish ireland, welsh wales, norwegian norway, greek greece, american us,
	american america, us america, european europe, eu europe, scottish scotland, thai thailand, english england, portuguese portugal, chinese china`)

// readPairs reads pairs that hold in both directions; of several the first counts.
func readPairs(list string) map[string]string {
	out := map[string]string{}
	for pair := range strings.SplitSeq(list, ",") {
		ab := strings.Fields(pair)
		for i, w := range ab {
			if out[w] == "" {
				out[w] = ab[1-i]
			}
		}
	}
	return out
}

// missingName returns the first name that no source has, and whether it is certain that it is one. A name of several
// words of which a source has one, as the surname, is not certainly missing.
func (s *statement) missingName(texts []*text, best window) (string, bool) {
	doubt := ""
	for _, n := range s.names {
		var missing []word
		for _, i := range n.words {
			w := s.words[i]
			known := false
			for _, t := range texts {
				known = known || t.knows(w)
			}
			if !known {
				missing = append(missing, w)
			}
		}
		if len(missing) == 0 && !s.mixed(n, texts) || len(missing) > 0 && s.expanded(n, texts) {
			continue
		}
		first, last := s.words[n.words[0]], s.words[n.words[len(n.words)-1]]
		text := s.text[first.start:last.end]
		switch {
		case len(missing) == 0:
		case n.weak && (best.share < 0.6 || sameWord[first.term()] != "" || len(polesOf(first)) > 0 || !s.isSubject(n)):
			continue // an ordinary word, as far as can be told
		case len(missing) == 1 && missing[0].start == first.start && len(n.words) > 1 && s.begins(n.words[0]) && !s.otherName(n, missing, texts):
			continue // "Enabling Kerberos": the first word is an ordinary one
		case len(missing) < len(n.words) && !s.otherName(n, missing, texts):
			doubt = text
			continue
		}
		return text, true
	}
	return doubt, false
}

func allGerman(texts []*text) bool {
	return !slices.ContainsFunc(texts, func(t *text) bool { return t.language != "de" })
}

// isSubject reports a single word at the beginning that is followed by a verb rather than being one of the words that
// begin sentences: an ordinary content word in -ly, -ing or a plural is no name.
func (s *statement) isSubject(n name) bool {
	w := s.words[n.words[0]]
	for _, ending := range []string{"ly", "ing", "ed", "s", "ers", "ion", "ment", "ness", "ity", "ance", "ence"} {
		if strings.HasSuffix(w.low, ending) {
			return false
		}
	}
	i := n.words[0] + 1
	return i < len(s.words) && (verbs[s.words[i].low] || strings.HasSuffix(s.words[i].low, "ed")) && strings.TrimSpace(s.text[w.end:max(w.end, s.words[i].start)]) == ""
}

var verbs = set(`is are was were has had have will would can could may might must does did said says won made built began became grew fell rose lost
	bought sold gave took led held wrote found`)

// expanded reports a name of several words whose initials a source has.
func (s *statement) expanded(n name, texts []*text) bool {
	letters := ""
	for _, i := range n.words {
		r, _ := utf8.DecodeRuneInString(s.words[i].low)
		letters += string(r)
	}
	for _, t := range texts {
		if len(n.words) > 2 && t.has[letters] {
			return true
		}
	}
	return false
}

// otherName reports that a source has the words of the name that are there beside another capitalised word in the place
// of a missing one: Pierre Curie for Marie Curie.
func (s *statement) otherName(n name, missing []word, texts []*text) bool {
	for k, i := range n.words {
		w := s.words[i]
		if w.start != missing[0].start {
			continue
		}
		for _, t := range texts {
			for j, tw := range t.words {
				if k+1 < len(n.words) && j > 0 && tw.low == s.words[n.words[k+1]].low && t.words[j-1].capital() && tw.start-t.words[j-1].end == 1 && len(t.words[j-1].terms) > 0 {
					return true
				}
				if k > 0 && j+1 < len(t.words) && tw.low == s.words[n.words[k-1]].low && t.words[j+1].capital() && t.words[j+1].start-tw.end == 1 && len(t.words[j+1].terms) > 0 {
					return true
				}
			}
		}
	}
	return false
}

// mixed reports a name made of two: Clara Brandt, where the sources have Clara Neumann and Otto Brandt.
func (s *statement) mixed(n name, texts []*text) bool {
	for k := 1; k < len(n.words); k++ {
		a, b := s.words[n.words[k-1]], s.words[n.words[k]]
		aOther, bOther := false, false
		for _, t := range texts {
			for i, w := range t.words {
				if w.low == a.low && i+1 < len(t.words) && w.capital() {
					next := t.words[i+1]
					for j := i + 1; j < len(t.words) && j <= i+3 && t.words[j].capital(); j++ { // Frau Sabine Ortmann
						if t.words[j].low == b.low {
							return false
						}
					}
					aOther = aOther || next.capital() && next.start-w.end == 1 && len(next.terms) > 0
				}
				if w.low == b.low && i > 0 && w.capital() {
					before := t.words[i-1]
					bOther = bOther || before.capital() && w.start-before.end == 1 && len(before.terms) > 0
				}
			}
			if strings.Contains(t.about, a.low+" "+b.low) {
				return false
			}
		}
		if aOther && bOther {
			return true
		}
	}
	return false
}

// missingFigures returns figures that are part of a name or a time, such as those of NV-204 or 10:30, and that no source has.
func (s *statement) missingFigures(texts []*text) string {
	for i, w := range s.words {
		if !w.number() || w.code() || s.inQuantity(w) {
			continue
		}
		known := false
		for _, t := range texts {
			known = known || t.has[w.low]
		}
		if !known {
			start := w.start
			if i > 0 && s.words[i-1].end+1 == w.start {
				start = s.words[i-1].start
			}
			return s.text[start:w.end]
		}
	}
	return ""
}
