package recurring

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"nightdesk/pipeline/quantity"
	"nightdesk/pipeline/text"
)

// Span is the time between two runs, as dates YYYY-MM-DD.
type Span struct{ Since, Now string }

// Moved compares two versions of a text. It ignores lines about the delivery of the text. Changes in spelling only are
// returned as respelt, not as changed.
func (s Span) Moved(old, now string) (d text.Difference, respelt []text.Pair) {
	d = text.Align(old, now)
	d.Changed = slices.DeleteFunc(d.Changed, func(p text.Pair) bool {
		before, after := old[p.Old.Start:p.Old.End], now[p.New.Start:p.New.End]
		same := sayTheSame(before, after) || alone(old, p.Old) && alone(now, p.New) && s.delivered(before, after)
		if same {
			respelt = append(respelt, p)
		}
		return same
	})
	stood := map[uint64]bool{}
	for _, u := range text.Units(old) {
		stood[u.Mark] = u.Form != text.Label
	}
	units := text.Units(now)
	d.New = slices.DeleteFunc(d.New, func(u text.Unit) bool {
		i := slices.Index(units, u)
		entry := u.Form == text.Entry && old != "" // a list entry counts only next to an entry that was there before
		listed := i > 0 && stood[units[i-1].Mark] || i+1 < len(units) && stood[units[i+1].Mark]
		return entry && !listed || alone(now, u) && s.delivered("", now[u.Start:u.End])
	})
	d.Withdrawn = slices.DeleteFunc(d.Withdrawn, func(u text.Unit) bool {
		return alone(old, u) && s.delivered("", old[u.Start:u.End])
	})
	return d, respelt
}

// Limits of a delivery stamp: one of the first or last lines of a text, with few words and a date of the last months.
const (
	edgeUnits   = 3
	stampWords  = 8
	stampMonths = 13
)

// alone reports whether a unit is one of the first or last of its text and fills its line.
func alone(s string, u text.Unit) bool {
	before, after := s[:u.Start], s[u.End:]
	line := s[strings.LastIndexByte(before, '\n')+1:]
	if end := strings.IndexByte(s[u.End:], '\n'); end >= 0 {
		line = line[:len(line)-len(after)+end]
	}
	return len(text.Words(line)) == len(text.Words(s[u.Start:u.End])) && (few(before) || few(after))
}

// few reports whether a text has at most two units.
func few(s string) bool {
	return len(s) < 1<<10 && len(text.Units(s)) < edgeUnits
}

// delivered reports whether a line states when its text was created or sent. Its only figure is a date between the two
// runs. If it replaced another line, the date has moved forward.
func (s Span) delivered(old, now string) bool {
	day, words, ok := stamp(now)
	if !ok || day > s.Now || len(words) > stampWords {
		return false
	}
	if old == "" {
		return day >= s.Since
	}
	before, others, ok := stamp(old)
	return ok && slices.Equal(words, others) && day >= before && months(s.Now)-months(day) <= stampMonths
}

// stamp returns the only date of a line, YYYY-MM-DD, and its words without figures.
func stamp(line string) (day string, words []string, ok bool) {
	days := 0
	rest, figures := parts(line)
	for _, f := range figures {
		switch w := f.When; {
		case f.Kind == quantity.Date && w.Day > 0:
			day = date(w)
			days++
		case f.Kind != quantity.Number && f.Kind != quantity.Label && f.Kind != quantity.Date:
			return "", nil, false
		}
	}
	words = slices.DeleteFunc(rest, func(w string) bool { return strings.ContainsAny(w, "0123456789") })
	return day, words, days == 1
}

// parts splits a text into words and figures.
func parts(s string) (words []string, figures []quantity.Quantity) {
	at := 0
	for _, q := range quantity.Parse(s) {
		words = append(words, text.Words(s[at:q.Start])...)
		figures = append(figures, q)
		at = q.End
	}
	return append(words, text.Words(s[at:])...), figures
}

// sayTheSame reports whether two sentences or rows are equal: the same words in the same order with the same figures,
// apart from notation and misspellings.
func sayTheSame(a, b string) bool {
	if strings.HasPrefix(a, "|") && strings.HasPrefix(b, "|") {
		return slices.EqualFunc(cells(a), cells(b), sameCell)
	}
	return same(a, b)
}

// sameCell reports whether two cells are equal. In a table, 1575 may be a number or a year.
func sameCell(a, b string) bool {
	digits := strings.NewReplacer(",", "", "'", "", "\u00a0", "", "\u202f", "")
	return same(a, b) || slices.Equal(text.Words(digits.Replace(a)), text.Words(digits.Replace(b)))
}

func same(a, b string) bool {
	wordsA, figuresA := parts(a)
	wordsB, figuresB := parts(b)
	if !slices.EqualFunc(figuresA, figuresB, equal) {
		return false
	}
	if strings.Join(wordsA, "") == strings.Join(wordsB, "") { // written as one word or two
		return true
	}
	return slices.EqualFunc(wordsA, wordsB, func(x, y string) bool { return x == y || misspelt(x, y) })
}

// equal reports whether two figures have the same value, independent of notation and unit prefix. A figure alone does
// not tell whether a separator stands before thousands or decimals: 3.031 is 3031.
func equal(a, b quantity.Quantity) bool {
	near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y)) }
	thousands := func(x, y float64) bool { return near(1000*x, y) && !near(math.Round(100*x), 100*x) }
	same := near(a.Low, b.Low) || thousands(a.Low, b.Low) || thousands(b.Low, a.Low)
	return a.Kind == b.Kind && a.Unit == b.Unit && a.When == b.When && same
}

// farAlike is the minimum similarity of two sentences for one to replace the other in another text.
const farAlike = 0.7

// Follows reports whether a sentence may replace another one in another text. Apart from figures, one of them must
// contain all content words of the other, because similar files have similar sentences about different subjects.
func Follows(old, now string) bool {
	a, b := terms(old), terms(now)
	within := func(x, y []string) bool {
		return !slices.ContainsFunc(x, func(t string) bool { return !slices.Contains(y, t) })
	}
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	likeness := float64(2*min(len(a), len(b))) / float64(len(a)+len(b))
	return (within(a, b) || within(b, a)) && likeness >= farAlike
}

// terms returns the content words of a text without its figures.
func terms(s string) []string {
	words, _ := parts(s)
	return text.TermSet(strings.Join(words, " "))
}

// leastMisspelt is the minimum length of a word, in characters, for a one-letter difference to count as a misspelling.
const leastMisspelt = 5

// misspelt reports whether two words are spellings of the same word. They differ by one inserted, deleted or replaced
// letter, or two swapped neighbours, as in four fifths of all misspellings (Damerau 1964). The first letter is hardly
// ever wrong, and a different last letter is a different word form.
func misspelt(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if strings.ContainsAny(a+b, "0123456789") || len(x) == 0 || len(y) == 0 || x[0] != y[0] {
		return false
	}
	head, tail := 0, 0
	for head < min(len(x), len(y)) && x[head] == y[head] {
		head++
	}
	for tail < min(len(x), len(y))-head && x[len(x)-1-tail] == y[len(y)-1-tail] {
		tail++
	}
	x, y = x[head:len(x)-tail], y[head:len(y)-tail]
	if len(x) == 2 && len(y) == 2 {
		return x[0] == y[1] && x[1] == y[0]
	}
	shorter := min(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	return tail > 0 && len(x) <= 1 && len(y) <= 1 && shorter >= leastMisspelt
}
