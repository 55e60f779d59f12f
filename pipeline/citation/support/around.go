package support

import (
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
)

// surroundings are the anchors of a quantity of the sentence: close to it, up to commas, and all that are its own.
type surroundings struct {
	close, all map[string]bool
	contrast   bool // the sentence has two values of the kind, which it tells apart
	sentence   map[string]bool
	whole      bool                // it is what a share is of: half of the six
	partners   []quantity.Quantity // values that this one is told to have become, or to have been
}

func (s *statement) around(q quantity.Quantity) surroundings {
	var partners []quantity.Quantity
	vs := slices.DeleteFunc(values(q, s.quantities), func(v quantity.Quantity) bool {
		partner := s.changes(v, q) || s.changes(q, v)
		if partner {
			partners = append(partners, v)
		}
		return partner
	})
	from, to := s.clauseOf(q)
	i := slices.IndexFunc(vs, func(v quantity.Quantity) bool { return v.Start == q.Start })
	found := surroundings{all: segment(s.text, s.words, vs, i, from, to), close: map[string]bool{}, contrast: len(vs) > 1, sentence: s.anchors, partners: partners, whole: s.whole(q)}
	close := segment(s.text, s.words, vs, i, max(from, cutBefore(s.text, q.Start)), min(to, cutBehind(s.text, q.End)))
	for a := range close {
		found.close[a] = found.all[a]
	}
	return found
}

// whole reports a number that a share is told of.
func (s *statement) whole(q quantity.Quantity) bool {
	return q.Kind == quantity.Number && slices.ContainsFunc(s.quantities, func(o quantity.Quantity) bool {
		return o.Kind == quantity.Percent && o.End < q.Start && joinsValues(s.text[o.End:q.Start])
	})
}

// changes reports that one value is told with the other: from 52 to 46; to 0.46 from 1.12; 134 of the 189.
func (s *statement) changes(a, b quantity.Quantity) bool {
	if a.End > b.Start {
		return false
	}
	switch strings.TrimSpace(s.text[a.End:b.Start]) {
	case "from", "statt", "instead of", "rather than", "à":
		return true
	}
	return joinsValues(s.text[a.End:b.Start])
}

// cutBefore and cutBehind return where the part between commas around a quantity begins and ends.
func cutBefore(text string, at int) int {
	for i := at - 1; i >= 0; i-- {
		if clauseMark(text, i) {
			return i + 1
		}
	}
	return 0
}

func cutBehind(text string, at int) int {
	for i := at; i < len(text); i++ {
		if clauseMark(text, i) {
			return i
		}
	}
	return len(text)
}

// apartWords begin a clause about something else.
var apartWords = set(`but while whereas although though aber während obwohl`)

// clauseOf returns the part of the sentence around a quantity, up to a semicolon or a word such as "while".
func (s *statement) clauseOf(q quantity.Quantity) (from, to int) {
	to = len(s.text)
	for i, w := range s.words {
		cut := apartWords[w.low] || i > 0 && strings.ContainsAny(s.text[s.words[i-1].end:max(w.start, s.words[i-1].end)], ";；")
		if cut && w.start <= q.Start && i > 0 {
			from = w.start
		} else if cut && w.start > q.Start {
			return from, w.start
		}
	}
	return from, to
}
