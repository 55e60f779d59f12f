package digest

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// reasons groups runs by the cause of a bad end.
type reasons struct {
	groups []*reason // in the order in which they were first given
	known  map[string]*reason
	total  int
}

// reason is a cause, which the texts of its runs share up to their particulars.
type reason struct {
	words []string // between the particulars
	parts []particular
	texts []string // of the first runs
	runs  []Ref
	n     int
}

// alone is how many runs with one cause are listed one by one, each with its own text.
const alone = 3

// particulars match what differs between texts with one cause: numbers, dates, ids, addresses with a number, and
// quotations.
var particulars = regexp.MustCompile(`"[^"]*"|“[^”]*”|\d+(?:,\d{3})+|[\w.:/+@-]*\d(?:[\w.:/+@-]*\w)?`)

func (r *reasons) add(text string, run Ref) {
	r.total++
	if r.known == nil {
		r.known = map[string]*reason{}
	}
	text = line(text)
	key := particulars.ReplaceAllString(text, "#")
	g := r.known[key]
	if g == nil && len(r.groups) == maxReasons {
		key, text = "", "further reasons, see `nightdesk list`"
		g = r.known[key]
	}
	if g == nil {
		g = &reason{words: particulars.Split(text, -1)}
		r.known[key], r.groups = g, append(r.groups, g)
	}
	g.add(text, run)
}

func (g *reason) add(text string, run Ref) {
	for i, value := range particulars.FindAllString(text, -1) {
		switch {
		case g.n == 0:
			g.parts = append(g.parts, newParticular(value))
		case i < len(g.parts): // always but for further reasons
			g.parts[i].add(value)
		}
	}
	g.n++
	if len(g.runs) < maxRefs {
		g.runs, g.texts = append(g.runs, run), append(g.texts, text)
	}
}

// text returns what is true of all runs with this cause.
func (g *reason) text() string {
	var b strings.Builder
	for i, words := range g.words {
		b.WriteString(words)
		if i < len(g.parts) {
			b.WriteString(g.parts[i].String())
		}
	}
	return b.String()
}

// section lists first what many runs have in common.
func (r *reasons) section(kind, batch string) Section {
	var t top
	for _, g := range r.groups {
		if g.n <= alone {
			for i, run := range g.runs {
				t.add(Item{Kind: kind, Text: g.texts[i], Do: advice(kind, g.texts[i], run.RunID), Runs: []Ref{run},
					Count: 1, weight: 1})
			}
			continue
		}
		t.add(Item{Kind: kind, Text: g.text(), Do: advice(kind, g.text(), batch), Runs: g.runs, Count: g.n,
			weight: float64(g.n)})
	}
	s := t.section()
	s.Total = r.total
	return s
}

// particular is what the texts of one cause have in one place.
type particular struct {
	value     string // of the first
	differs   bool
	low, high float64 // NaN: not numbers
}

func newParticular(value string) particular {
	n := number(value)
	return particular{value: value, low: n, high: n}
}

func (p *particular) add(value string) {
	n := number(value)
	p.differs = p.differs || value != p.value
	p.low, p.high = math.Min(p.low, n), math.Max(p.high, n) // NaN stays
}

// String returns the value that all texts have, the range of numbers, or "…".
func (p particular) String() string {
	switch {
	case !p.differs, p.low == p.high:
		return p.value
	case math.IsNaN(p.low):
		return "…"
	}
	return amount(p.low) + " to " + amount(p.high)
}

func amount(n float64) string {
	if n == math.Trunc(n) {
		return figure(int(n))
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// number returns the value of a plain number, else NaN.
func number(text string) float64 {
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil || strings.Trim(text, "0123456789,.") != "" {
		return math.NaN()
	}
	return n
}
