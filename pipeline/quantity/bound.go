package quantity

import (
	"strings"
	"unicode/utf8"
)

// bounds are words before a number, the longest first where one ends with another.
var bounds = []struct {
	words string
	bound Bound
}{
	{"no more than", AtMost}, {"not more than", AtMost}, {"no fewer than", AtLeast}, {"no less than", AtLeast}, {"not less than", AtLeast},
	{"more than", AtLeast}, {"greater than", AtLeast}, {"higher than", AtLeast}, {"larger than", AtLeast}, {"upwards of", AtLeast}, {"at least", AtLeast},
	{"less than", AtMost}, {"fewer than", AtMost}, {"lower than", AtMost}, {"smaller than", AtMost}, {"at most", AtMost}, {"up to", AtMost},
	{"beyond", AtLeast}, {"in excess of", AtLeast}, {"as much as", AtMost}, {"as many as", AtMost}, {"a little over", About}, {"a little more than", About}, {"slightly more than", About},
	{"a little under", About}, {"a little less than", About}, {"slightly less than", About}, {"près de", About}, {"environ", About}, {"plus de", AtLeast}, {"moins de", AtMost},
	{"over", AtLeast}, {"above", AtLeast}, {"exceeding", AtLeast}, {"exceeds", AtLeast}, {"exceeded", AtLeast}, {"minimum of", AtLeast},
	{"under", AtMost}, {"below", AtMost}, {"maximum of", AtMost},
	{"about", About}, {"around", About}, {"approximately", About}, {"approx.", About}, {"roughly", About}, {"nearly", About}, {"almost", About},
	{"some", About}, {"circa", About}, {"ca.", About}, {"an estimated", About}, {"close to", About}, {"just over", About}, {"just under", About},
	{"mehr als", AtLeast}, {"über", AtLeast}, {"mindestens", AtLeast}, {"wenigstens", AtLeast}, {"weniger als", AtMost}, {"höchstens", AtMost},
	{"maximal", AtMost}, {"bis zu", AtMost}, {"unter", AtMost}, {"rund", About}, {"etwa", About}, {"ungefähr", About}, {"knapp", About}, {"fast", About}, {"gut", About}, {"zirka", About},
	{"接近", About}, {"将近", About}, {"超过", AtLeast}, {"至少", AtLeast}, {"不少于", AtLeast}, {"逾", AtLeast}, {"高于", AtLeast}, {"不到", AtMost}, {"至多", AtMost}, {"最多", AtMost}, {"不超过", AtMost}, {"低于", AtMost},
	{"大约", About}, {"约", About}, {"近", About}, {"左右", About},
	{"≥", AtLeast}, {">", AtLeast}, {"≤", AtMost}, {"<", AtMost}, {"~", About}, {"≈", About}, {"∼", About},
}

// boundsByEnd has the bounds by their last rune.
var boundsByEnd = func() map[rune][]int {
	found := map[rune][]int{}
	for i, b := range bounds {
		r, _ := utf8.DecodeLastRuneInString(b.words)
		found[r] = append(found[r], i)
	}
	return found
}()

// bound reads the words before and behind a quantity.
func (p *parser) bound(q *Quantity) {
	if q.Kind == Label || q.Kind == Ordinal {
		return
	}
	before := strings.ToLower(strings.TrimRight(p.s[max(0, q.Start-24):q.Start], " \u00a0\n"))
	before = strings.TrimSuffix(strings.TrimSuffix(before, " a"), " the")
	last, _ := utf8.DecodeLastRuneInString(before)
	best := ""
	for _, i := range boundsByEnd[last] {
		b := bounds[i]
		rest, ok := strings.CutSuffix(before, b.words)
		if !ok || len(b.words) <= len(best) {
			continue
		}
		if r, _ := utf8.DecodeLastRuneInString(rest); isLetter(r) && isLetter(firstRune(b.words)) {
			continue // "moreover 5" is not "over 5"
		}
		best, q.Bound = b.words, b.bound
	}
	if raw := p.s[q.Start:q.End]; strings.Contains(raw, "多") || strings.Contains(raw, "余") {
		q.Bound = AtLeast
	}
	after := p.s[q.End:min(len(p.s), q.End+12)]
	switch {
	case best != "", q.Bound != Exact:
	case strings.HasPrefix(after, "+"), strings.HasPrefix(after, " or more"), strings.HasPrefix(after, "多"), strings.HasPrefix(after, "余"), strings.HasPrefix(after, "以上"):
		q.Bound = AtLeast
	case strings.HasPrefix(after, " or less"), strings.HasPrefix(after, " or fewer"), strings.HasPrefix(after, "以下"), strings.HasPrefix(after, "以内"):
		q.Bound = AtMost
	case strings.HasPrefix(after, "左右"):
		q.Bound = About
	}
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
