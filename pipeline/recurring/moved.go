package recurring

import (
	"slices"
	"strings"
	"unicode/utf8"

	"nightdesk/pipeline/quantity"
	"nightdesk/pipeline/text"
)

// Span is the time between two nights: their days, YYYY-MM-DD.
type Span struct{ Since, Now string }

// Moved compares two versions of a text. What tells of the delivery of the text is left out; what only is written
// otherwise is not changed, but respelt.
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
		entry := u.Form == text.Entry && old != "" // of a list that says something: another entry of it stood there
		listed := i > 0 && stood[units[i-1].Mark] || i+1 < len(units) && stood[units[i+1].Mark]
		return entry && !listed || alone(now, u) && s.delivered("", now[u.Start:u.End])
	})
	d.Withdrawn = slices.DeleteFunc(d.Withdrawn, func(u text.Unit) bool { return alone(old, u) && s.delivered("", old[u.Start:u.End]) })
	return d, respelt
}

// How a text tells when it was delivered: in one of its first or last lines, in few words, by a date of the last
// months.
const (
	edgeUnits   = 3
	stampWords  = 8
	stampMonths = 13
)

// alone reports a unit that is one of the first or last of its text and has its line for itself.
func alone(s string, u text.Unit) bool {
	before, after := s[:u.Start], s[u.End:]
	line := s[strings.LastIndexByte(before, '\n')+1:]
	if end := strings.IndexByte(s[u.End:], '\n'); end >= 0 {
		line = line[:len(line)-len(after)+end]
	}
	return len(text.Words(line)) == len(text.Words(s[u.Start:u.End])) && (few(before) || few(after))
}

// few reports a text of two units at most.
func few(s string) bool {
	return len(s) < 1<<10 && len(text.Units(s)) < edgeUnits
}

// delivered reports a line that tells when its text was made or sent: its only figure is a day between the two nights
// or, where another line stood there, one that has moved on towards tonight.
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

// stamp returns the one day that a line names, YYYY-MM-DD, and its words without figures.
func stamp(line string) (day string, words []string, ok bool) {
	days := 0
	rest, figures := parts(line)
	for _, f := range figures {
		switch w := f.When; {
		case f.Kind == quantity.Date && w.Day > 0 && f.To.Zero():
			day = date(w)
			days++
		case f.Kind != quantity.Number && f.Kind != quantity.Label && f.Kind != quantity.Date:
			return "", nil, false
		}
	}
	words = slices.DeleteFunc(rest, func(w string) bool { return strings.ContainsAny(w, "0123456789") })
	return day, words, days == 1
}

// parts parts a text into its words and its figures.
func parts(s string) (words []string, figures []quantity.Quantity) {
	at := 0
	for _, q := range quantity.Parse(s) {
		words = append(words, text.Words(s[at:q.Start])...)
		figures = append(figures, q)
		at = q.End
	}
	return append(words, text.Words(s[at:])...), figures
}

// sayTheSame reports that two sentences or rows say the same: the same words in the same order with the same figures,
// however these are written, but for the spelling of single words.
func sayTheSame(a, b string) bool {
	if strings.HasPrefix(a, "|") && strings.HasPrefix(b, "|") {
		one, two := strings.Split(strings.Trim(a, "| "), "|"), strings.Split(strings.Trim(b, "| "), "|")
		return slices.EqualFunc(one, two, sameCell)
	}
	return same(a, b)
}

// sameCell reports cells that say the same: in a table, 1575 can be a number or a year.
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
	if strings.Join(wordsA, "") == strings.Join(wordsB, "") { // one word or two
		return true
	}
	return slices.EqualFunc(wordsA, wordsB, func(x, y string) bool { return x == y || misspelt(x, y) })
}

// equal reports that two figures are one value, whatever unit and prefix they are written with.
func equal(a, b quantity.Quantity) bool {
	near := func(x, y float64) bool { return x == y || x-y < 1e-9*max(x, y, -x, -y) && y-x < 1e-9*max(x, y, -x, -y) }
	return a.Kind == b.Kind && a.Unit == b.Unit && a.When == b.When && a.To == b.To && near(a.Low, b.Low) && near(a.High, b.High)
}

// farAlike is how alike two sentences must be for one to have come in the place of the other somewhere else.
const farAlike = 0.7

// Follows reports that a sentence can have come in the place of another one in another text: it is about the same,
// for one of them has all words of the other, figures aside. In files of one form, sentences on others look much the
// same, too.
func Follows(old, now string) bool {
	a, b := terms(old), terms(now)
	within := func(x, y []string) bool {
		return !slices.ContainsFunc(x, func(t string) bool { return !slices.Contains(y, t) })
	}
	return len(a) > 0 && len(b) > 0 && (within(a, b) || within(b, a)) && float64(2*min(len(a), len(b))) >= farAlike*float64(len(a)+len(b))
}

// terms returns the content words of a text beside its figures.
func terms(s string) []string {
	words, _ := parts(s)
	return text.TermSet(strings.Join(words, " "))
}

// leastMisspelt is the length in characters from which a word that differs in one sign is taken for the same, misspelt.
const leastMisspelt = 5

// misspelt reports two spellings of one word: one letter too many, too few or another one, or two neighbours in
// exchange, as in four fifths of all mistakes (Damerau 1964). Its first letter is hardly ever wrong, and another last
// one makes another form of it.
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
	return tail > 0 && len(x) <= 1 && len(y) <= 1 && min(utf8.RuneCountInString(a), utf8.RuneCountInString(b)) >= leastMisspelt
}
