package support

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"nightdesk/pipeline/extractive"
	"nightdesk/pipeline/quantity"
)

// pole is the side of an axis that a word stands on.
type pole struct {
	axis int
	side int // 1 or -1
}

// axes are words that turn what a sentence says into its opposite when one side stands for the other. Words that often
// mean something else (up, over, back, long) are left out.
const axes = `
increase increases increased increasing rise rises rose risen rising grow grows grew grown growing growth climb climbs climbed gain gains gained surge surged expand expands expanded expansion jump jumped soar soared raise raises raised steigt stieg steigen gestiegen wächst wuchs zunimmt nahm erhöht erhöhte wuchsen widen widens widened augmenté progressé progresse hausse crû 增加 增长 上升 提高 上涨 | decrease decreases decreased decreasing decline declines declined declining fall falls fell fallen falling drop drops dropped dropping reduce reduces reduced reducing reduction shrink shrinks shrank shrunk cut cuts plunge plunged dip dipped lose loses lost losing lower lowers lowered sinkt sank sinken gesunken fällt fiel abnimmt verringert verringerte senkt senkte narrow narrows narrowed reculé baissé diminué recule baisse 减少 下降 降低 下跌 缩小
more greater higher larger bigger most highest largest greatest mehr höher größer höchste größte 更多 更高 更大 最高 最大 | less fewer lower smaller least lowest smallest fewest weniger niedriger geringer kleiner niedrigste kleinste 更少 更低 更小 最低 最小
faster quickly quicker fastest quickest schneller 更快 最快 | slower slowest slowly langsamer 更慢 最慢
longer longest länger 更长 | shorter shortest kürzer 更短
before earlier prior vor vorher 之前 以前 | after later afterwards following nach nachher 之后 以后
older oldest älter | newer younger newest youngest jünger
support supports supported supporting favour favours favor favors favoured approve approves approved endorse endorses endorsed accept accepts accepted agree agrees agreed ratified adopted passed grant grants granted stattgegeben welcome welcomes welcomed praise praises praised unterstützt befürwortet genehmigt 支持 赞成 批准 同意 | abgewiesen zurückgewiesen oppose opposes opposed opposing reject rejects rejected disagree disagrees disagreed against refuse refuses refused dispute disputed deny denies denied veto vetoed criticise criticises criticised criticize criticizes criticized condemn condemns condemned ablehnt abgelehnt lehnt lehnte 反对 拒绝 否决
allow allows allowed allowing permit permits permitted enable enables enabled erlaubt erlaubte 允许 | forbid forbids forbidden prohibit prohibits prohibited ban bans banned disable disables disabled prevent prevents prevented block blocks blocked verbietet verboten 禁止
better improve improves improved improvement best strengthen strengthens strengthened besser verbessert 更好 改善 | worse worsen worsens worsened worst degrade degrades degraded weaken weakens weakened schlechter verschlechtert 更差 恶化
begin begins began begun start starts started open opens opened launch launched beginnt begann 开始 | end ends ended stop stops stopped close closes closed cease ceased finish finished endet endete 结束 停止
win wins won winning gewann 获胜 | lose loses lost losing verlor 失败
succeed succeeds succeeded success successful erfolgreich 成功 | fail fails failed failure unsuccessful gescheitert
profit profits profitable gewinn 盈利 | loss losses unprofitable verlust 亏损
maximum minimum|
always immer 总是 | never nie rarely seldom
positive positiv | negative negativ
import imports imported | export exports exported
include includes included including | exclude excludes excluded excluding
true correct right wahr richtig | false incorrect wrong falsch
safe sicher | unsafe dangerous gefährlich
buy buys bought purchase purchased acquire acquired kauft kaufte | sell sells sold selling verkauft verkaufte
strong stronger strongest stark | weak weaker weakest schwach
early früh | late spät
northern north nördlich | southern south südlich
eastern east östlich | western west westlich
upper above oberhalb über | lower below unterhalb unter beneath
hot warm warmer hotter heiß | cold cool cooler colder kalt
add adds added | remove removes removed delete deletes deleted
majority mehrheit 多数 | minority minderheit 少数
legal lawful | illegal unlawful
male men | female women
internal | external
ascending | descending
input | output
primary | secondary
domestic | foreign
public | private
maximum maximal | minimum minimal
majority most | minority few
frequent häufig 经常 | rare rarest rarer seltener selten 很少
easier easy simpler simple | harder difficult complex
cheaper cheap | expensive dearer costlier
wet humid | dry arid
necessary required mandatory compulsory | unnecessary optional voluntary
temporary | permanent
confirm confirmed confirms | contradict contradicted contradicts refuted refute
rich wealthy | poor
first | last final
`

// poles has every word of axes, as written and by its stem, with its sides: a word may stand on several axes.
var poles, opposites = readAxes(axes)

func readAxes(list string) (map[string][]pole, map[string]map[string]bool) {
	found, opposite := map[string][]pole{}, map[string]map[string]bool{}
	for axis, line := range strings.Split(strings.TrimSpace(list), "\n") {
		plus, minus, _ := strings.Cut(line, "|")
		sides := [2][]string{strings.Fields(plus), strings.Fields(minus)}
		if len(sides[1]) == 0 {
			continue
		}
		var forms [2][]string
		for i, side := range sides {
			seen := map[string]bool{}
			for _, w := range side {
				for _, form := range append(extractive.Terms(w), w) {
					if !seen[form] {
						seen[form] = true
						forms[i] = append(forms[i], form)
						found[form] = append(found[form], pole{axis, 1 - 2*i})
					}
				}
			}
		}
		for i := range forms {
			for _, w := range forms[i] {
				if opposite[w] == nil {
					opposite[w] = map[string]bool{}
				}
				for _, o := range forms[1-i] {
					opposite[w][o] = true
				}
			}
		}
	}
	return found, opposite
}

// polesOf returns the sides that a word stands on.
func polesOf(w word) []pole {
	if p := poles[w.low]; p != nil {
		return p
	}
	return poles[w.term()]
}

// polesAt is polesOf for word i; "up" and "down" count where they tell of a change: up from, went down.
func polesAt(words []word, i int) []pole {
	w := words[i]
	if w.low == "up" || w.low == "down" {
		moved := i > 0 && (words[i-1].low == "went" || words[i-1].low == "go" || words[i-1].low == "goes" || words[i-1].low == "gone" || words[i-1].low == "going")
		if moved || i+1 < len(words) && (words[i+1].low == "from" || words[i+1].low == "to" || words[i+1].low == "by" || words[i+1].number() && words[i+1].start-w.end <= 4) {
			side := 1
			if w.low == "down" {
				side = -1
			}
			return []pole{{change, side}}
		}
		return nil
	}
	return polesOf(w)
}

// change is the first of the axes.
const change = 0

// turn is a word of an axis in a text, with the content words around it.
type turn struct {
	at     int // word
	raw    string
	pole   pole
	word   string         // in lower case
	beside [2]string      // content words before and behind it
	near   map[string]int // with their distance in words
}

// beside returns the content words next to word i, "" where there is none.
func beside(words []word, i int) (found [2]string) {
	for j := i - 1; j >= 0 && found[0] == ""; j-- {
		found[0] = words[j].term()
	}
	for j := i + 1; j < len(words) && found[1] == ""; j++ {
		found[1] = words[j].term()
	}
	return found
}

// nearWords is how far around a word its anchors are looked for.
const nearWords = 6

// turns finds the words of axes; a denied one stands on the other side.
func turns(s string, words []word) []turn {
	var out []turn
	denied := map[string]bool{}
	for _, n := range negations(s, words) {
		if n.trigger {
			denied[n.head] = true
		}
	}
	for i, w := range words {
		if dates(words, i) || compass[w.low] && hyphenedWord(s, w) || consistent(s, words, i) {
			continue
		}
		for _, p := range polesAt(words, i) {
			if denied[w.term()] && w.term() != "" || ceases(words, i) {
				p.side = -p.side
			}
			t := turn{at: i, raw: w.raw, pole: p, near: map[string]int{}, beside: beside(words, i), word: w.low}
			for j := max(0, i-nearWords); j < min(len(words), i+nearWords+1); j++ {
				if term := words[j].term(); j != i && term != "" && !words[j].number() && len(polesOf(words[j])) == 0 {
					distance := max(i-j, j-i)
					if d, known := t.near[term]; !known || distance < d {
						t.near[term] = distance
					}
				}
			}
			out = append(out, t)
		}
	}
	return out
}

// ceases reports a noun of which a word shortly behind it says that it is no more: support for it was dropped.
func ceases(words []word, i int) bool {
	for j := i + 1; j < len(words) && j <= i+4; j++ {
		if ceasing[words[j].low] {
			return isNoun(words, i) || i+1 < len(words) && (words[i+1].low == "for" || words[i+1].low == "für")
		}
	}
	return false
}

// dates reports a word that tells when by a span of time or by another value, and orders nothing: a year earlier, after
// £4.4 billion the year before.
func dates(words []word, i int) bool {
	switch words[i].low {
	case "earlier", "later", "before", "after", "prior", "previously":
		return i > 0 && spans[words[i-1].low] || i+1 < len(words) && words[i+1].number()
	}
	return false
}

// compass words are parts of names as well.
var compass = set(`east west north south up down`)

// hyphenedWord reports a part of a compound: us-east, up-to-date.
func hyphenedWord(s string, w word) bool {
	return w.start > 0 && s[w.start-1] == '-' || w.end < len(s) && s[w.end] == '-'
}

// consistent reports a comparison or a change whose own two figures bear it out: 74.6%, less than the 84.7% of others; 11%,
// down from 14%. Whether the figures are right is checked elsewhere.
func consistent(s string, words []word, i int) bool {
	side, ok := comparison(words, i)
	if !ok {
		return false
	}
	a, b, ok := compared(s, words[i])
	return ok && (a.Low-b.Low)*float64(side) > 0
}

// comparison returns the side of a word that compares what stands before it with what stands behind: more than, up from.
func comparison(words []word, i int) (side int, ok bool) {
	if i+1 >= len(words) {
		return 0, false
	}
	next := words[i+1].low
	switch words[i].low {
	case "up":
		return 1, next == "from"
	case "down":
		return -1, next == "from"
	}
	for _, p := range polesOf(words[i]) {
		if p.axis <= change+1 {
			return p.side, next == "than" || next == "als"
		}
	}
	return 0, false
}

// compared returns the values next to a word on both sides, of one kind.
func compared(s string, w word) (a, b quantity.Quantity, ok bool) {
	from, to := max(0, w.start-120), min(len(s), w.end+80)
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	before, behind := quantity.Parse(s[from:w.start]), quantity.Parse(s[w.end:to])
	for _, q := range behind {
		if q.Kind == quantity.Date {
			continue
		}
		for i := len(before) - 1; i >= 0; i-- {
			if before[i].Kind == q.Kind && before[i].Unit == q.Unit {
				return before[i], q, true
			}
		}
		break
	}
	return a, b, false
}

var spans = set(`year years month months week weeks day days hour hours minute minutes decade decades century centuries season`)

// turned returns the word of the sentence whose opposite the sources have in its place; "" when there is none.
func (s *statement) turned(ws []window) string {
	mine := turns(s.text, s.words)
	if len(mine) == 0 && len(s.terms) == 0 {
		return ""
	}
	all, best := s.passages(ws)
	if best < sameMatter {
		return ""
	}
	flagged := map[int]int{}
	for _, m := range mine {
		if (m.word == "began" || m.word == "begins" || m.word == "started") && slices.ContainsFunc(mine, func(o turn) bool { return o.pole.axis == m.pole.axis && o.pole.side != m.pole.side }) {
			continue // it began here and ended there: which one the source tells cannot be said
		}
		same, other := 0.0, 0.0
		for _, p := range all {
			if p.share < sameMatter || p.share < nearlyBest*best {
				continue
			}
			for _, o := range turns(p.text, p.words) {
				if o.pole.axis != m.pole.axis {
					continue
				}
				if o.beside == m.beside && o.word == m.word {
					same = math.Inf(1) // the very words
					continue
				}
				n := together(m.near, o.near)
				if m.pole.axis == change {
					figure, both := s.sameFigure(m, p, o)
					if both && figure == 0 {
						continue // of other figures
					}
					n += figure
				}
				side := o.pole.side
				if s.crossed(m, p, o) {
					side = -side
				}
				if side == m.pole.side {
					same = max(same, n)
				} else {
					other = max(other, n)
				}
			}
		}
		if other > clearly*same && other > 0 {
			flagged[m.pole.axis]++
			// Who is for and who against, in one sentence: an exchange turns both.
			if flagged[m.pole.axis] > 1 || !slices.ContainsFunc(mine, func(o turn) bool { return o.pole.axis == m.pole.axis && o.pole.side != m.pole.side }) {
				return m.raw
			}
		}
	}
	return s.prefixed(all, best)
}

// figureWords is how far a change and its figure may stand apart, and figureWeight what a figure tells that both have.
const (
	figureWords  = 5
	figureWeight = 2
)

// sameFigure weighs that a change stands before the same figure in the sentence and in a passage. both: it stands before
// a figure in both.
func (s *statement) sameFigure(m turn, p passage, o turn) (weight float64, both bool) {
	mine := behind(s.quantities, s.words, m.at)
	theirs := behind(p.source.inUnit(p.unit), p.words, o.at)
	for _, a := range mine {
		for _, b := range theirs {
			if a.Kind == quantity.Date || b.Kind == quantity.Date {
				continue
			}
			both = true
			if agree(a, b, s.text[a.Start:a.End], p.text[b.Start:b.End]) == met {
				return figureWeight, true
			}
		}
	}
	return 0, both
}

// behind returns the quantities shortly behind a word.
func behind(qs []quantity.Quantity, words []word, at int) []quantity.Quantity {
	var out []quantity.Quantity
	end := words[min(len(words)-1, at+figureWords)].end
	for _, q := range qs {
		if q.Start >= words[at].end && q.Start <= end && len(out) == 0 {
			out = append(out, q)
		}
	}
	return out
}

// clearly is by how much the opposite must stand closer to the same words than the word itself.
const clearly = 1.2

// together says how close two words of an axis stand to the same words.
func together(a, b map[string]int) float64 {
	sum := 0.0
	for term, d := range a {
		if e, ok := b[term]; ok {
			sum += 1 / float64(d*e)
		}
	}
	return sum
}

// contradicts returns the word for a change that the sentence's own figures belie: fell from 3 to 4.
func (s *statement) contradicts() string {
	var from, to *quantity.Quantity
	for i := range s.quantities {
		q := &s.quantities[i]
		if q.Kind == quantity.Date || q.Low != q.High {
			continue
		}
		before := strings.Fields(strings.ToLower(s.text[max(0, q.Start-12):q.Start]))
		if len(before) == 0 {
			continue
		}
		switch before[len(before)-1] {
		case "from", "von":
			if from != nil {
				return ""
			}
			from = q
		case "to", "auf":
			if to != nil {
				return ""
			}
			to = q
		}
	}
	for i := range s.words {
		if side, ok := comparison(s.words, i); ok {
			if a, b, ok := compared(s.text, s.words[i]); ok && (a.Low-b.Low)*float64(side) < 0 && a.Bound == quantity.Exact && b.Bound == quantity.Exact {
				return s.words[i].raw
			}
		}
	}
	if from == nil || to == nil || from.Kind != to.Kind || from.Unit != to.Unit || from.Low == to.Low {
		return ""
	}
	side := 1
	if to.Low < from.Low {
		side = -1
	}
	word, wrong := "", false
	for _, t := range turns(s.text, s.words) {
		if t.pole.axis == change {
			if word != "" {
				return ""
			}
			word, wrong = t.raw, t.pole.side != side
		}
	}
	if wrong {
		return word
	}
	return ""
}

// crossed reports that what stands before a word such as "before" or "faster than" in the sentence stands behind it in
// the passage: A before B is B after A.
func (s *statement) crossed(m turn, p passage, o turn) bool {
	if !relates(s.words, m.at) || !relates(p.words, o.at) {
		return false
	}
	b1, a1 := sides(s.text, s.words, m.at)
	b2, a2 := sides(p.text, p.words, o.at)
	straight := len(shared(b1, b2)) + len(shared(a1, a2))
	cross := len(shared(b1, a2)) + len(shared(a1, b2))
	return cross > straight && cross >= 2
}

// sides returns the content words on both sides of word at. What "after" begins a clause with ends with that clause, and
// the rest stands on its other side: "After the storm, they left" is "they left after the storm".
func sides(s string, words []word, at int) (before, behind map[string]bool) {
	before, behind = map[string]bool{}, map[string]bool{}
	marked := func(i int) bool { // a clause ends between words i-1 and i
		return i > 0 && i < len(words) && strings.ContainsAny(s[words[i-1].end:max(words[i-1].end, words[i].start)], ",;:，；")
	}
	ended := false
	for i := at + 1; i < len(words); i++ {
		ended = ended || marked(i) || turning[words[i].low]
		if term := words[i].term(); term != "" && ended {
			before[term] = true
		} else if term != "" {
			behind[term] = true
		}
	}
	for i := at - 1; i >= 0; i-- {
		if term := words[i].term(); term != "" {
			before[term] = true
		}
	}
	return before, behind
}

// turning words begin a clause that is no longer under the one before it.
var turning = set(`but while whereas although though aber während obwohl`)

// relates reports a word that stands between two things: before, after, or a comparative with "than".
func relates(words []word, at int) bool {
	switch words[at].low {
	case "before", "after", "vor", "nach", "prior":
		return true
	}
	if w := words[at].low; !strings.HasSuffix(w, "er") && w != "more" && w != "less" && w != "better" && w != "worse" && w != "mehr" && w != "weniger" {
		return false
	}
	for j := at + 1; j < len(words) && j <= at+3; j++ {
		if words[j].low == "than" || words[j].low == "als" {
			return true
		}
	}
	return false
}

// prefixed returns a word of the sentence that the best passage has only with a prefix that denies it, or without.
func (s *statement) prefixed(all []passage, best float64) string {
	if len(negations(s.text, s.words)) > 0 {
		return ""
	}
	own := map[string]bool{}
	for _, w := range s.words {
		own[w.low] = true
	}
	for _, p := range all {
		if p.share < sameMatter || p.share < best || len(negations(p.text, p.words)) > 0 {
			continue
		}
		has := map[string]bool{}
		for _, w := range p.words {
			has[w.low] = true
		}
		for _, w := range s.words {
			if has[w.low] || len(w.low) < 5 || w.number() {
				continue
			}
			for _, swap := range [2][2]string{{"over", "under"}, {"under", "over"}} {
				if rest, ok := strings.CutPrefix(w.low, swap[0]); ok && len(rest) >= 5 && has[swap[1]+rest] && !own[swap[1]+rest] {
					return w.raw
				}
			}
			for _, prefix := range []string{"un", "in", "im", "ir", "non", "dis", "a"} {
				if has[prefix+w.low] && !own[prefix+w.low] && prefix != "a" {
					return w.raw
				}
				if rest, ok := strings.CutPrefix(w.low, prefix); ok && len(rest) >= 5 && has[rest] && !own[rest] {
					return w.raw
				}
			}
		}
	}
	return ""
}
