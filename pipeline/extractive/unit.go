package extractive

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// unit is what is chosen or left: a sentence that stands alone, or one that leans on those before it together with
// them.
type unit struct {
	Sentence
	passage   int
	parts     []sentence
	statement statement
	section   *section
	terms     []term // in order, with repetitions
	lead      bool   // begins a section or the passage
	first     bool   // begins its paragraph
	item      bool
	ledIn     bool // its list has a lead-in ("..., if:") that says what its items mean
	score     float64
}

func (u unit) overlaps(o unit) bool {
	return u.passage == o.passage && u.Start < o.End && o.Start < u.End
}

// section is what stands between two headings of one passage.
type section struct {
	heading []term
	covered float64 // how much of the query it holds
}

// maxParts is the number of sentences that one unit may have.
const maxParts = 3

// unitsOf returns the units of one passage.
func unitsOf(passage int, text string, st stemmer) []unit {
	var out []unit
	current := &section{}
	lead, ledIn := true, false
	for _, p := range parse(text) {
		if p.heading || titleLike(p) {
			current, lead = &section{heading: termsOf(text[p.start:p.end], st)}, true
			continue
		}
		for i := range p.sentences {
			from := standing(p.sentences, i)
			if from < 0 {
				continue
			}
			u := newUnit(text, p.sentences[from:i+1], st)
			u.passage, u.section, u.item = passage, current, p.item
			u.first, u.lead = from == 0, from == 0 && lead
			u.ledIn = p.item && ledIn
			out = append(out, u)
		}
		if !p.item && len(p.sentences) > 0 {
			lead = false
			ledIn = strings.HasSuffix(text[p.start:p.end], ":")
		}
	}
	return out
}

func newUnit(text string, parts []sentence, st stemmer) unit {
	u := unit{parts: parts}
	u.Start, u.End = parts[0].Start, parts[len(parts)-1].End
	u.Text = text[u.Start:u.End]
	u.Paragraph, u.Complete = parts[0].Paragraph, true
	u.terms = termsOf(u.Text, st)
	u.statement = newStatement(u.Text, st)
	return u
}

// standing returns the index of the sentence with which the unit that ends with sentence i begins; i itself when it
// stands alone, -1 when it cannot be quoted at all.
func standing(ss []sentence, i int) int {
	if !ss[i].Complete || pointsAway(ss[i]) {
		return -1
	}
	words := 0
	for from := i; from >= 0 && from > i-maxParts; from-- {
		s := ss[from]
		words += len(s.words)
		if !s.Complete || pointsAway(s) || words > maxUnitWords || from < i && question(s.Text) {
			return -1
		}
		if !leans(s) {
			return from
		}
	}
	return -1
}

func question(s string) bool {
	s = strings.TrimRight(s, "\"'”’)]」 ")
	last, _ := utf8.DecodeLastRuneInString(s)
	return last == '?' || last == '？'
}

// titleLike reports a paragraph that reads as a heading though nothing marks it: one short line without a stop.
func titleLike(p paragraph) bool {
	if p.item || len(p.sentences) != 1 {
		return false
	}
	s := p.sentences[0]
	if s.Complete || len(s.words) > 12 || strings.Contains(s.Text, "\n") || !capital(strings.TrimLeft(s.Text, "0123456789.§ \"“")) {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(s.Text)
	return !strings.ContainsRune(".:;,=>{}(", last) && !strings.Contains(s.Text, " = ")
}

func termsOf(text string, st stemmer) []term {
	var out []term
	scan(text, func(t token) { out = append(out, st.terms(t)...) })
	return out
}

// leans reports that a sentence points to what was said before it: it begins with a pronoun, a connective or a phrase
// like "in this case".
func leans(s sentence) bool {
	ws := s.words
	if len(ws) == 0 {
		return true
	}
	first := ws[0].low
	if wideShare(s.Text) > 0.3 {
		return hasPrefixAny(strings.TrimLeft(s.Text, "「『“\""), anaphoricWide)
	}
	if anaphoric[first] || anaphoric[strings.TrimSuffix(strings.TrimSuffix(first, "'s"), "’s")] {
		return !pleonastic(ws)
	}
	begin := make([]string, 0, 6)
	for _, w := range ws[:min(6, len(ws))] {
		begin = append(begin, w.low)
	}
	low := strings.Join(begin, " ") + " "
	for _, x := range anaphoricPhrase {
		if strings.HasPrefix(low, x) && low[len(x)] == ' ' {
			return true
		}
	}
	if first == "if" || first == "when" || first == "unless" { // "If negative, ...", "When on (the default), ..." of what?
		for i := 1; i < len(ws) && i < 4; i++ {
			if verbAt(ws, i) && i > 1 {
				break
			}
			if strings.HasSuffix(ws[i].after, ",") {
				return true
			}
		}
	}
	for i := 1; i < len(ws) && i < 4; i++ { // "The planner thus needs ...", but not "If it fails then ..."
		if midway[ws[i].low] && !subordinators[first] {
			return true
		}
	}
	return looseReference(ws)
}

// midway are connectives that point back from within a sentence's beginning.
var midway = set(`thus therefore hence then consequently however instead accordingly conversely likewise meanwhile
	nevertheless nonetheless furthermore moreover daher jedoch deshalb donc cependant entonces`)

// pleonastic reports an opening pronoun that points to nothing: "It is possible to ...", "Both A and B ...".
func pleonastic(ws []word) bool {
	if len(ws) < 5 {
		return false
	}
	switch ws[0].low {
	case "both", "either", "neither":
		return ws[1].low != "of" && slices.ContainsFunc(ws[1:min(9, len(ws))], func(w word) bool { return w.low == "and" || w.low == "or" || w.low == "nor" })
	case "it":
		if ws[1].low != "is" && ws[1].low != "was" && ws[1].low != "may" && ws[1].low != "can" && ws[1].low != "might" {
			return false
		}
		for _, w := range ws[2:min(7, len(ws))] {
			if w.low == "that" || w.low == "to" {
				return pleonasticWord[ws[2].low] || pleonasticWord[ws[3].low] || pleonasticWord[ws[4].low]
			}
		}
		return false
	case "other", "another":
		return false
	case "those": // Those who ...
		return ws[1].low == "who"
	case "first", "former", "second", "third", "next", "latter", "last": // "Second normal form requires ..."
		return ws[0].after == "" && ws[0].low != "former" && ws[0].low != "latter" && !auxiliary[ws[1].low]
	case "so":
		return strings.HasPrefix(ws[1].low, "called")
	case "such":
		return false
	}
	return false
}

var pleonasticWord = set(`possible necessary important recommended useful common easy hard difficult essential advisable best
	better usual safe likely unlikely clear known well-known customary helpful worthwhile worth good impossible legal
	estimated believed thought expected`)

// looseReference reports a word for something that a reader without the paragraph cannot know: a pronoun soon after
// the beginning ("When it ..."), or "this" with a noun that the sentence has not named before ("during this phase").
func looseReference(ws []word) bool {
	for i, w := range ws {
		switch w.low {
		case "it", "they", "them", "he", "she":
			if i <= 2 { // "If a lock is held, it ..." resolves within the sentence
				return true
			}
		case "this", "these", "those":
			if i <= 4 {
				return !(i+1 < len(ws) && (ws[i+1].low == "who" || named(ws[:i], ws[i+1].low)))
			}
			if i+1 >= len(ws) || w.after != "" {
				continue
			}
			next := ws[i+1].low
			if i <= 14 && !auxiliary[next] && !stopWords[next] && !verbs[next] && !named(ws[:i], next) {
				if _, verb := thirdPerson(next); !verb {
					return true
				}
			}
		}
	}
	return false
}

// named reports that a noun, in singular or plural, is among ws.
func named(ws []word, noun string) bool {
	stem := noun[:max(min(len(noun), 4), len(noun)-3)]
	for _, w := range ws {
		if stem != "" && strings.HasPrefix(w.low, stem) {
			return true
		}
	}
	return false
}
