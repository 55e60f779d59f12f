package evidence

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/extractive"
	"nightdesk/pipeline/quantity"
	"nightdesk/topicqueue"
)

// said is a claim taken apart: its subject, what is measured, and when it holds.
type said struct {
	text      string   // the statement
	canonical string   // with all quantities in one form, for comparing statements
	terms     []string // content words without quantities, neutral words and synonyms folded; sorted, distinct
	names     []string // words that are names, folded; sorted, distinct
	unsure    string   // first word, which may be a name
	values    []value
	times     []quantity.Quantity // when it holds
	ordinals  []string            // 3rd, version 15: they are part of the subject
	qualified []string            // words that limit what is said: average, planned; sorted
	negations int
	row       []said // cells, of a row of a table
	source    topicqueue.Source
}

// value is one quantity that is said of the subject.
type value struct {
	quantity.Quantity
	text string // as written
	noun string // what is counted, of a bare number
}

// attribution says who says it, which is no part of what is said.
var attribution = regexp.MustCompile(`(?i)^(?:according to|laut|nach angaben (?:der|des|von))\b[^,.]{1,80},|,? according to [^,.]{1,80}`)

// understand takes a claim apart.
func understand(c Claim) said {
	s := said{text: c.statement(), source: c.Source}
	quantities := quantity.Parse(s.text)
	measured := slices.ContainsFunc(quantities, func(q quantity.Quantity) bool {
		return q.Kind != quantity.Date && q.Kind != quantity.Label && q.Kind != quantity.Ordinal
	})
	var rest, canonical strings.Builder
	at := 0
	for _, q := range quantities {
		before, text := s.text[at:q.Start], s.text[q.Start:q.End]
		rest.WriteString(before + " ")
		canonical.WriteString(before + " " + canonicalForm(q, text) + " ")
		at = q.End
		switch {
		case q.Kind == quantity.Label || q.Kind == quantity.Ordinal:
			s.ordinals = append(s.ordinals, strings.ToLower(text))
		case q.Kind == quantity.Date && measured:
			s.times = append(s.times, q)
		default:
			s.values = append(s.values, value{q, s.text[q.Start:q.End], counted(q, s.text)})
		}
	}
	rest.WriteString(s.text[at:])
	canonical.WriteString(s.text[at:])
	s.canonical = canonical.String()
	s.words(attribution.ReplaceAllString(rest.String(), " "))
	if !measured && !once(s.terms) { // of what may happen every year, a year is no value
		for _, v := range s.values {
			s.times = append(s.times, v.Quantity)
		}
		s.values = nil
	}
	return s
}

// canonicalForm writes a quantity so that equal ones are equal words: four figures, in the base unit.
func canonicalForm(q quantity.Quantity, text string) string {
	number := func(f float64) string {
		short, err := strconv.ParseFloat(strconv.FormatFloat(f, 'e', 3, 64), 64)
		if err != nil {
			return text
		}
		return strconv.FormatFloat(short, 'f', -1, 64)
	}
	switch {
	case q.Kind == quantity.Label || q.Kind == quantity.Ordinal:
		return text
	case q.Kind == quantity.Date:
		var out []string
		for _, w := range []quantity.When{q.When, q.To} {
			for _, n := range []int{w.Year, w.Quarter, w.Month, w.Day} {
				if n > 0 {
					out = append(out, strconv.Itoa(n))
				}
			}
		}
		return strings.Join(out, " ")
	case q.Low != q.High:
		return number(q.Low) + " " + number(q.High) + " " + q.Unit
	}
	return number(q.Low) + " " + q.Unit
}

// counted returns the first content word behind a bare number: passengers of "41,200 passengers".
func counted(q quantity.Quantity, text string) string {
	if q.Kind != quantity.Number {
		return ""
	}
	behind := text[q.End:min(len(text), q.End+60)]
	if cut := strings.LastIndexByte(behind, ' '); cut > 0 && q.End+60 < len(text) {
		behind = behind[:cut]
	}
	if end := strings.IndexAny(behind, ",.;:("); end >= 0 {
		behind = behind[:end]
	}
	if terms := folded(extractive.Terms(strings.ToValidUTF8(behind, ""))); len(terms) > 0 {
		return terms[0]
	}
	return ""
}

// words sorts the words that are no quantities into subject, names, limits and negations.
func (s *said) words(rest string) {
	for _, t := range folded(extractive.Terms(rest)) {
		switch {
		case qualifying[t]:
			s.qualified = append(s.qualified, t)
			s.terms = append(s.terms, t)
		case !neutral[t]:
			s.terms = append(s.terms, t)
		}
	}
	for _, list := range []*[]string{&s.terms, &s.qualified, &s.ordinals} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	start := true // of a sentence
	for word := range strings.FieldsSeq(rest) {
		bare := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		first, _ := utf8.DecodeRuneInString(bare)
		low := strings.ToLower(bare)
		switch {
		case negating[low] || strings.HasSuffix(low, "n't") || strings.HasSuffix(low, "n’t"):
			s.negations++
		case unicode.IsUpper(first) && !plainWord[low]:
			name := strings.TrimSuffix(strings.TrimSuffix(low, "'s"), "’s")
			if start && s.unsure == "" && !capitals(bare) {
				s.unsure = name
			} else if !start || capitals(bare) {
				s.names = append(s.names, name)
			}
		}
		start = strings.HasSuffix(word, ".") || strings.HasSuffix(word, ":")
	}
	s.negations += strings.Count(rest, "不") + strings.Count(rest, "没有") + strings.Count(rest, "并非")
	slices.Sort(s.names)
	s.names = slices.Compact(s.names)
}

// capitals reports a second capital: NASA, OpenAI.
func capitals(word string) bool {
	n := 0
	for _, r := range word {
		if unicode.IsUpper(r) {
			n++
		}
	}
	return n > 1
}

// confirmNames decides which first words are names: those that some claim has within a sentence, or the title of the source.
func confirmNames(list []said, claims []Claim) {
	known := map[string]bool{}
	for _, s := range list {
		for _, n := range s.names {
			known[n] = true
		}
	}
	for i := range list {
		s := &list[i]
		if s.unsure == "" {
			continue
		}
		if known[s.unsure] || slices.Contains(strings.FieldsFunc(strings.ToLower(claims[i].Source.Title), notLetter), s.unsure) {
			s.names = append(s.names, s.unsure)
			slices.Sort(s.names)
			s.names = slices.Compact(s.names)
		}
	}
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// same reports that two claims say the same: alike in words, with equal quantities, names, limits and negation.
func (s said) same(o said, c comparison) bool {
	if !slices.Equal(s.ordinals, o.ordinals) || !slices.Equal(s.qualified, o.qualified) || s.negations%2 != o.negations%2 {
		return false
	}
	if lacks(s.names, o.names) && lacks(o.names, s.names) {
		return false
	}
	if !c.equal(s.values, o.values) || disjoint(s.times, o.times) {
		return false
	}
	if len(s.values) > 0 && len(s.terms) >= 2 && slices.Equal(s.terms, o.terms) {
		return true
	}
	return extractive.Same(s.canonical, o.canonical)
}

// disjoint reports that two claims name times of which none lies in one of the other's; one that names none holds always.
func disjoint(a, b []quantity.Quantity) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	return !slices.ContainsFunc(a, func(x quantity.Quantity) bool {
		return slices.ContainsFunc(b, func(y quantity.Quantity) bool { return quantity.Agree(x, y) })
	})
}

func lacks(from, in []string) bool {
	return slices.ContainsFunc(from, func(t string) bool { return !slices.Contains(in, t) })
}
