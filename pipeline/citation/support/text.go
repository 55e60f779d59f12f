package support

import (
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/extractive"
	"nightdesk/pipeline/quantity"
)

// text is a source as sentences are checked by it.
type text struct {
	Source
	about      string // folded
	words      []word
	units      []unit
	quantities []placed
	folded     folded
	has        map[string]bool  // words in lower case, of the text and of what is known about it
	initials   map[string]bool  // first letters of names of several words
	postings   map[string][]int // units by content word
	aboutTerms map[string]bool
	counts     map[string][]float64 // bare numbers by the word that follows them, or has a colon before them
	cells      map[int]cell         // of quantities that stand in tables, by their first byte
	lines      map[tableLine][]int  // indexes of the quantities of a row or a column
	aboutFound []quantity.Quantity
	capitals   map[string]bool // content words that stand there with a capital, and those that stand there without
	small      map[string]bool
	parts      map[int][]part     // by unit, read when first asked for
	alias      map[[2]string]bool // whether two names are one, when asked for
	clocks     []clock            // read when first asked for
	clocked    bool
	language   string
}

// unit is a sentence, a line of a table or of code.
type unit struct {
	start, end int // bytes
	from, to   int // words
}

// placed is a quantity with the unit that it stands in.
type placed struct {
	quantity.Quantity
	raw  string
	unit int
}

// maxUnit bounds a unit, in bytes: text without full stops is cut at spaces.
const maxUnit = 1500

func newText(s Source, st stems) *text {
	t := &text{
		Source: s, words: st.words(s.Text), folded: foldText(s.Text), about: foldText(s.About).text,
		has: map[string]bool{}, initials: map[string]bool{}, capitals: map[string]bool{}, small: map[string]bool{}, postings: map[string][]int{}, aboutTerms: map[string]bool{},
	}
	t.language = language(t.words)
	dropSmall(t.words, t.language)
	t.units = unitsOf(s.Text)
	at := 0
	for i := range t.units {
		u := &t.units[i]
		for at < len(t.words) && t.words[at].start < u.start {
			at++
		}
		u.from = at
		for at < len(t.words) && t.words[at].start < u.end {
			for _, term := range t.words[at].terms {
				if p := t.postings[term]; len(p) == 0 || p[len(p)-1] != i {
					t.postings[term] = append(p, i)
				}
			}
			at++
		}
		u.to = at
	}
	at = 0
	for _, q := range parse(s.Text, t.language) {
		for at+1 < len(t.units) && t.units[at].end <= q.Start {
			at++
		}
		t.quantities = append(t.quantities, placed{q, s.Text[q.Start:q.End], at})
	}
	t.counts = map[string][]float64{}
	for _, p := range t.quantities {
		if p.Kind != quantity.Number {
			continue
		}
		noun := nounBehind(t.words, p.End)
		if i, _ := slices.BinarySearchFunc(t.words, p.Start, func(w word, b int) int { return w.start - b }); i > 0 && t.words[i-1].end+2 == p.Start && s.Text[p.Start-2:p.Start] == ": " {
			noun = t.words[i-1].term()
		}
		if noun != "" && len(t.counts[noun]) < 20 {
			t.counts[noun] = append(t.counts[noun], p.Low)
		}
	}
	t.readTables(st)
	t.know(s.Text, t.words)
	aboutWords := st.words(s.About)
	t.know(s.About, aboutWords)
	for _, w := range aboutWords {
		for _, term := range w.terms {
			t.aboutTerms[term] = true
		}
	}
	t.aboutFound = parse(s.About, t.language)
	return t
}

// germanSmall are German words that tell nothing of a matter, and are no words of English.
var germanSmall = set(`um wurde wurden wird werden worden noch nur erst schon jetzt etwa rund sowie sind waren ist bei beim als auch seit bis zum zur vom ins je damit dabei
	davon dafür dass weil wenn hatte hatten haben habe sich sein seine seiner seinem seinen ihr ihre ihrer ihrem ihren kann können konnte soll sollen sollte muss müssen nun dann
	aber oder denn doch wieder weiter weiterhin insgesamt dort hier dieser diese dieses diesem diesen welche welcher`)

// dropSmall leaves out what is no content word of German, among it the article that is an English verb.
func dropSmall(words []word, language string) {
	for i := range words {
		if germanSmall[words[i].low] || language == "de" && (words[i].low == "die" || words[i].low == "war" || words[i].low == "hat") {
			words[i].terms = nil
		}
	}
}

// know takes in words, words that hyphens part, joined, and the initials of names.
func (t *text) know(s string, words []word) {
	for i, w := range words {
		t.has[w.low] = true
		for _, term := range w.terms {
			t.has[term] = true
		}
		if i > 0 && words[i-1].end+1 == w.start && s[words[i-1].end] == '-' {
			t.has[words[i-1].low+w.low] = true
		}
		if !w.capital() {
			t.small[w.term()] = true
			continue
		}
		if i > 0 && !calendar[w.low] && (s[words[i-1].end:w.start] == " " || s[words[i-1].end:w.start] == ", ") { // begins nothing
			t.capitals[w.term()] = true
		}
		letters := ""
		for j := i; j < len(words) && j < i+9 && len(letters) < 7; j++ {
			if j > i && words[j].start-words[j-1].end > 1 {
				break
			}
			next := words[j]
			if !next.capital() {
				if next.low == "of" || next.low == "and" || next.low == "for" || next.low == "the" || next.low == "de" {
					continue
				}
				break
			}
			letters += strings.ToLower(string([]rune(next.raw)[0]))
			if len(letters) > 1 {
				t.initials[letters] = true
			}
		}
	}
}

// unitsOf cuts a text into sentences; what is none, such as tables and code, into lines.
func unitsOf(s string) []unit {
	var out []unit
	add := func(start, end int) {
		for start < end {
			stop := end
			if end-start > maxUnit {
				stop = start + maxUnit
				for stop > start+maxUnit/2 && s[stop] != ' ' && s[stop] != '\n' {
					stop--
				}
			}
			out = append(out, unit{start: start, end: stop})
			start = stop
		}
	}
	lines := func(start, end int) {
		for start < end {
			stop := end
			if n := strings.IndexByte(s[start:end], '\n'); n >= 0 {
				stop = start + n + 1
			}
			if strings.IndexFunc(s[start:stop], func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0 {
				add(start, stop)
			}
			start = stop
		}
	}
	at := 0
	for _, sentence := range extractive.Sentences(s) {
		if sentence.Start < at {
			continue
		}
		lines(at, sentence.Start)
		add(sentence.Start, sentence.End)
		at = sentence.End
	}
	lines(at, len(s))
	return out
}
