package support

import (
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/quantity"
)

// deriving are words that announce a computed value.
var deriving = set(`total together combined sum sums add adds all both altogether difference gap increase increased rise rose risen growth grew grown gain gains gained decrease decreased decline declined fall fell fallen
	drop dropped reduction reduced cut lowered raised times double doubled twice half halved triple tripled quadrupled ratio average mean share percent points fewer more less other others each
	remaining remain remained rest missing budget lacking short without excluding including net overall per higher lower faster slower longer shorter lighter heavier larger smaller bigger older younger cheaper dearer
	against gegen every yearly annual annually pro jährlich earlier later behind ahead majority aged age old when amounts
	insgesamt zusammen summe differenz mehr weniger um teurer billiger höher niedriger übrigen übrige anteil fehlen fehlt ohne jede jeder je
	manque différence ensemble total`)

var derivingWide = []string{"倍", "多", "少", "共", "合计", "相差", "平均", "占", "提高", "增加", "减少", "下降", "比"}

// Bounds of what is computed: how many of the passages with most of the sentence's words, and how many of their values.
const (
	derivePlaces = 12
	deriveValues = 48
)

// derived reports that a quantity can be computed from two or more that stand where the sentence's words do. A value that
// no word announces must be exact and have three figures, or be what remains of a number: 21 of the 62. Figures that the
// sources have in another order are a slip, and not computed.
func (s *statement) derived(q quantity.Quantity, texts []*text, ws []window) bool {
	if q.Kind == quantity.Date || q.Low != q.High || q.Low <= 0 {
		return false
	}
	raw := s.text[q.Start:q.End]
	announced := s.announces(q)
	exact := len(strings.Trim(strings.ReplaceAll(figures(raw), ".", ""), "0")) >= 3
	for _, t := range texts {
		if t.slipped(q, raw) {
			return false
		}
	}
	if !exact && !s.sums() && s.takesPlace(q, texts) {
		return false
	}
	far := leading(ws).share < someOfIt // said in words of its own: any sentence of the sources may be meant
	d := derivation{q: q, announced: announced, exact: exact, written: writtenValue(raw)}
	for _, t := range texts {
		groups := append(s.operands(t, ws), t.bases()...)
		if far && q.Unit == "month" && q.Bound != quantity.Exact && d.across(t.dates()[:min(len(t.dates()), deriveValues)]) {
			return true
		}
		if far && q.Kind == quantity.Number && t.differs(q) {
			return true
		}
		for _, values := range groups {
			if d.within(values) {
				return true
			}
		}
		var all []placed
		for _, values := range groups {
			all = append(all, values...)
		}
		if d.across(all[:min(len(all), deriveValues)]) || q.Kind != quantity.Number && d.across(t.few(q)) {
			return true
		}
		if q.Unit == "s" && d.ofClocks(t.times()) || t.others(q) || (q.Unit == "s" || ranks[wordBefore(s.words, q.Start)]) && t.nth(raw) {
			return true
		}
		if q.Unit == "month" && len(groups) > 0 || q.Kind == quantity.Number && announced {
			for _, a := range all[:min(len(all), deriveValues/3)] { // an age, a span of years that began elsewhere
				for _, b := range t.dates() {
					if a.Kind == quantity.Date && a.When.Year > 0 && d.span(a.Quantity, b.Quantity) {
						return true
					}
				}
			}
		}
	}
	return false
}

// summing words leave no doubt that a value is computed.
var summing = set(`add adds sum together combined total altogether both sum difference remaining remain without excluding including net fewer more less outside missing insgesamt zusammen`)

func (s *statement) sums() bool {
	return slices.ContainsFunc(s.words, func(w word) bool { return summing[w.low] }) || strings.Contains(s.folded, " in all") || strings.Contains(s.folded, " between them")
}

// takesPlace reports that a source sentence says the same of another value, behind the same word: closed two of its five
// plants, where the sentence has three.
func (s *statement) takesPlace(q quantity.Quantity, texts []*text) bool {
	before := wordBefore(s.words, q.Start)
	if before == "" || before == "or" || before == "and" {
		return false
	}
	for _, t := range texts {
		for i, values := range s.operands(t, nil) {
			if i > 2 {
				break
			}
			u := values[0].unit
			covered := map[int]bool{}
			for i, term := range s.terms {
				if _, there := slices.BinarySearch(t.postings[term.text], u); there {
					covered[i] = true
				}
			}
			if s.share(covered, t) < 0.9 {
				continue
			}
			rivals := map[float64]bool{}
			for _, p := range values {
				if alikeKind(p.Quantity, q) && wordBefore(t.words, p.Start) == before && agree(q, p.Quantity, s.text[q.Start:q.End], p.raw) == apart {
					rivals[p.Low] = true
				}
			}
			if len(rivals) == 1 {
				return true
			}
		}
	}
	return false
}

func wordBefore(words []word, at int) string {
	i, _ := slices.BinarySearchFunc(words, at, func(w word, b int) int { return w.start - b })
	if i == 0 {
		return ""
	}
	return words[i-1].low
}

// announces reports that the sentence has a word for a computed value, or that the value is one of several: 21 of the 62.
func (s *statement) announces(q quantity.Quantity) bool {
	if s.sums() {
		return true
	}
	for _, w := range s.words {
		if deriving[w.low] && (w.start >= q.End || w.end <= q.Start) {
			return true
		}
	}
	for _, w := range derivingWide {
		if strings.Contains(s.text, w) {
			return true
		}
	}
	if before := wordBefore(s.words, q.Start); before == "by" || len(s.negations) > 0 || q.Kind == quantity.Percent && figures(s.text[q.Start:q.End]) == "" {
		return true
	}
	if q.Kind != quantity.Number {
		return false
	}
	rest := strings.TrimLeft(s.text[q.End:], " ")
	return strings.HasPrefix(rest, "of ") || strings.HasPrefix(rest, "der ") || strings.HasPrefix(rest, "des ")
}

// complement reports what remains of a number that the sentence names too: 45 of the 48, where three of 48 did.
func (s *statement) complement(q quantity.Quantity, texts []*text) bool {
	if q.Kind == quantity.Percent && s.losesOrKeeps(q, texts) {
		return true
	}
	if q.Kind != quantity.Number || len(s.negations) == 0 && s.takesPlace(q, texts) {
		return false
	}
	for _, whole := range s.quantities {
		if whole.Start <= q.End || whole.Start-q.End > 12 || whole.Kind != quantity.Number && whole.Kind != quantity.Measure {
			continue
		}
		if words := strings.Fields(s.text[q.End:whole.Start]); len(words) == 0 || words[0] != "of" && words[0] != "der" && words[0] != "von" {
			continue
		}
		rest := writtenValue(s.text[whole.Start:whole.End]) - q.Low
		for _, t := range texts {
			for _, p := range t.quantities {
				if rest > 0 && written(p.raw) == strconv.FormatFloat(rest, 'f', -1, 64) && t.unitHas(p.unit, s.text[whole.Start:whole.End]) {
					return true
				}
			}
		}
	}
	return false
}

// unitHas reports that a quantity with this number stands in a unit.
func (t *text) unitHas(unit int, raw string) bool {
	for _, q := range t.inUnit(unit) {
		if written(t.Text[q.Start:q.End]) == written(raw) {
			return true
		}
	}
	return false
}

// dates returns at most a hundred of a source's dates.
func (t *text) dates() []placed {
	var out []placed
	for _, p := range t.quantities {
		if p.Kind == quantity.Date && p.When.Year > 0 && len(out) < 100 {
			out = append(out, p)
		}
	}
	return out
}
