package support

import (
	"maps"
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
)

// Two values of one kind in one sentence belong to different things: 407 with cardalin and 541 with placebo. A segment is
// the part of a sentence that belongs to one of them, an anchor a word of it. A value is misplaced when the words that
// the checked sentence has around it are the anchors of another value.

// parting words stand between the segments of two values.
var parting = set(`and or but while whereas although though against versus vs compared than nor plus und oder aber während gegen gegenüber sowie statt et ou contre mais`)

// values returns a quantity and those of its kind and unit.
func values(of quantity.Quantity, all []quantity.Quantity) []quantity.Quantity {
	var out []quantity.Quantity
	for _, o := range all {
		if o.Start == of.Start || alikeKind(of, o) {
			out = append(out, o)
		}
	}
	return out
}

// countAlike reports numbers of which neither counts another thing than the other.
func countAlike(words []word, a, b quantity.Quantity) bool {
	x, y := nounBehind(words, a.End), nounBehind(words, b.End)
	return a.Kind != quantity.Number || x == "" || y == "" || x == y
}

// alikeKind reports quantities that could stand for each other: one unit, or both times; years with years, days with days.
func alikeKind(a, b quantity.Quantity) bool {
	switch {
	case a.Kind != b.Kind:
		return false
	case a.Kind == quantity.Date:
		return (a.When.Month > 0) == (b.When.Month > 0) && (a.When.Day > 0) == (b.When.Day > 0)
	case a.Unit == b.Unit, strings.HasPrefix(a.Unit, b.Unit+"/"), strings.HasPrefix(b.Unit, a.Unit+"/"):
		return true
	}
	time := func(u string) bool { return u == "s" || u == "month" }
	return time(a.Unit) && time(b.Unit)
}

// nounBehind returns the content word that follows a number at once, "" when something else does.
func nounBehind(words []word, end int) string {
	i, _ := slices.BinarySearchFunc(words, end, func(w word, b int) int { return w.start - b })
	if i < len(words) && words[i].start-end <= 1 && !words[i].number() {
		return words[i].term()
	}
	return ""
}

// smallNoun is nounBehind for words that begin with a small letter: two December assaults count no months.
func smallNoun(words []word, end int) string {
	i, _ := slices.BinarySearchFunc(words, end, func(w word, b int) int { return w.start - b })
	if i < len(words) && words[i].capital() {
		return ""
	}
	return nounBehind(words, end)
}

// segment returns the anchors of one of the values of a part of a text, which are in order. Values that are joined, as in
// from 184 to 197, or 62 of the 75, have theirs together.
func segment(text string, words []word, vs []quantity.Quantity, i, from, to int) map[string]bool {
	groups := make([]quantity.Quantity, 0, len(vs))
	at := 0
	for k, v := range vs {
		if n := len(groups); n > 0 && joinsValues(text[groups[n-1].End:max(groups[n-1].End, v.Start)]) {
			groups[n-1].End = v.End
		} else {
			groups = append(groups, v)
		}
		if k == i {
			at = len(groups) - 1
		}
	}
	return ownSegment(text, words, groups, at, from, to)
}

func joinsValues(between string) bool {
	switch strings.TrimSpace(between) {
	case "to", "auf", "of", "of the", "der", "von":
		return true
	}
	return false
}

func ownSegment(text string, words []word, vs []quantity.Quantity, i, from, to int) map[string]bool {
	start, end := from, to
	if i > 0 {
		start = cutBetween(text, words, vs[i-1].End, vs[i].Start)
	}
	if i+1 < len(vs) {
		end = cutBetween(text, words, vs[i].End, vs[i+1].Start)
	}
	anchors := anchorsIn(text, words, max(start, vs[i].Start), end, vs)
	before := anchorsIn(text, words, start, vs[i].Start, vs)
	switch last := len(vs) - 1; {
	case i == 0 && last > 0: // what the next value has no subject or verb of its own for is said of both
		next := cutBetween(text, words, vs[0].End, vs[1].Start)
		subject, verb := capitals(words, next, vs[1].Start), wordsOf(anchorsIn(text, words, next, vs[1].Start, vs))
		maps.DeleteFunc(verb, func(a string, _ bool) bool { return subject[a] || auxiliary[a] })
		if elided(words, next) {
			verb = nil
		}
		shared := capitals(words, start, vs[0].Start)
		if n := len(subject) + len(verb); n > 0 && n <= 2 && !hasAuxiliary(words, next, vs[1].Start) { // coal made up half, limestone a sixth: only the subject differs
			first := firstAnchors(text, words, start, n)
			maps.DeleteFunc(before, func(a string, _ bool) bool { return !shared[a] && !first[a] })
			if len(subject) == 0 {
				shared = without(shared, first) // its capital is that of the sentence
			}
		}
		for a := range before {
			if shared[a] && len(subject) == 0 || !shared[a] && len(verb) == 0 {
				delete(before, a)
			}
		}
	case i == last && last > 0: // what stands behind the last may be said of all, unless something stands behind the one before
		if len(wordsOf(anchorsIn(text, words, vs[i-1].End, start, vs))) == 0 {
			clear(anchors)
		}
	}
	if last := len(vs) - 1; i < last && len(wordsOf(anchorsIn(text, words, vs[last].End, to, vs))) == 0 { // 25% of the fee, those with the other plan 10%
		clear(anchors)
	}
	maps.Copy(anchors, before)
	if i > 0 && inserted(text, words, vs[i-1]) && !strings.ContainsAny(text[vs[i-1].End:vs[i].Start], ";.") { // furnace B, of 1988, will run until 2029
		lo := from
		if i > 1 {
			lo = cutBetween(text, words, vs[i-2].End, vs[i-1].Start)
		}
		maps.Copy(anchors, anchorsIn(text, words, lo, vs[i-1].Start, vs))
	}
	return anchors
}

// inserted reports a value between commas with nothing but a preposition before it.
func inserted(text string, words []word, v quantity.Quantity) bool {
	open := strings.LastIndexByte(text[:v.Start], ',')
	return strings.HasPrefix(text[v.End:], ",") && open >= 0 && v.Start-open > 3 && v.Start-open < 12 && len(anchorsIn(text, words, open, v.Start, nil)) == 0
}

// hasAuxiliary reports a verb such as "is" between two bytes.
func hasAuxiliary(words []word, from, to int) bool {
	lo, _ := slices.BinarySearchFunc(words, from, func(w word, b int) int { return w.start - b })
	for ; lo < len(words) && words[lo].start < to; lo++ {
		if auxiliary[words[lo].low] && words[lo].low != "only" {
			return true
		}
	}
	return false
}

// firstAnchors returns the first anchors behind a byte.
func firstAnchors(text string, words []word, from, n int) map[string]bool {
	out := map[string]bool{}
	lo, _ := slices.BinarySearchFunc(words, from, func(w word, b int) int { return w.start - b })
	for ; lo < len(words) && len(out) < n; lo++ {
		if !words[lo].number() {
			addAnchor(out, words[lo])
		}
	}
	return out
}

var auxiliary = set(`is are was were has have had will would can could did does do now then later also still only wurde wird war ist hat`)

// elided reports that a segment begins with a verb: its subject is that of the one before.
func elided(words []word, at int) bool {
	i, _ := slices.BinarySearchFunc(words, at, func(w word, b int) int { return w.start - b })
	return i < len(words) && (auxiliary[words[i].low] || strings.HasSuffix(words[i].low, "ed"))
}

// wordsOf leaves out the anchors that are numbers and no years.
func wordsOf(anchors map[string]bool) map[string]bool {
	maps.DeleteFunc(anchors, func(a string, _ bool) bool { return a[0] >= '0' && a[0] <= '9' && !yearIn.MatchString(a) })
	return anchors
}

// capitals returns the anchors between two bytes that have a capital.
func capitals(words []word, from, to int) map[string]bool {
	out := map[string]bool{}
	lo, _ := slices.BinarySearchFunc(words, from, func(w word, b int) int { return w.start - b })
	for ; lo < len(words) && words[lo].start < to; lo++ {
		if words[lo].capital() && !calendar[words[lo].low] {
			addAnchor(out, words[lo])
		}
	}
	return out
}

// cutBetween returns where the segment of one value ends and that of the next begins.
func cutBetween(text string, words []word, from, to int) int {
	at, _ := cutRank(text, words, from, to)
	return at
}

// Ranks of what parts two segments: a word such as "and", a comma.
const cutWord = 3

// cutRank is cutBetween with how clearly the two are parted; 0: not at all.
func cutRank(text string, words []word, from, to int) (at, rank int) {
	if from >= to {
		return to, 0
	}
	best, rank, depth := from, 0, 0
	for i := from; i < to; i++ {
		r := 0
		switch text[i] {
		case ';', '\n':
			r = 6
		case '.', '!', '?':
			if i+1 < to && text[i+1] == ' ' && i > from && text[i-1] >= 'a' && i+2 < to && text[i+2] >= 'A' && text[i+2] <= 'Z' {
				r = 6
			}
		case ',':
			if depth == 0 {
				r = 4
			}
		case '(':
			if depth++; i+1 < to { // Lyra (74.6%) is one thing
				r = 1
			}
		case ')':
			r, depth = 1, max(0, depth-1)
		case ':':
			r = 1
		}
		switch {
		case strings.HasPrefix(text[i:], "；"):
			r = 6
		case strings.HasPrefix(text[i:], "，"), strings.HasPrefix(text[i:], "、"):
			r = 4
		}
		if r > 0 && r >= rank {
			best, rank = i+1, r
		}
	}
	lo, _ := slices.BinarySearchFunc(words, from, func(w word, b int) int { return w.start - b })
	for ; lo < len(words) && words[lo].end <= to; lo++ {
		w := words[lo]
		r := 0
		switch {
		case parting[w.low] && strings.HasSuffix(strings.TrimRight(text[from:w.start], " "), ","):
			r = 5 // ", and"
		case parting[w.low]:
			r = 3
		case w.low == "to" || w.low == "à" || w.low == "auf" || w.low == "from" || w.low == "von":
			r = 2
		}
		if r > 0 && r >= rank {
			best, rank = w.end, r
		}
	}
	return best, rank
}

// anchorsIn returns the anchors of the words between two bytes, without those of the values.
func anchorsIn(text string, words []word, from, to int, vs []quantity.Quantity) map[string]bool {
	out := map[string]bool{}
	lo, _ := slices.BinarySearchFunc(words, from, func(w word, b int) int { return w.start - b })
	for ; lo < len(words) && words[lo].start < to; lo++ {
		w := words[lo]
		if within(w, vs) || powers[w.low] {
			continue
		}
		if w.number() && (lo > 0 && words[lo-1].number() && words[lo-1].end+1 == w.start && text[w.start-1] != ' ' || lo+1 < len(words) && words[lo+1].number() && w.end+1 == words[lo+1].start && text[w.end] != ' ') {
			continue // groups of digits
		}
		if lo+1 < len(words) && w.capital() && w.term() != "" && !calendar[w.low] && words[lo+1].number() && len(words[lo+1].raw) <= 3 && words[lo+1].start-w.end == 1 && !within(words[lo+1], vs) {
			out[w.term()+" "+words[lo+1].low] = true
		}
		if lo+1 < len(words) && w.term() != "" && letter(words[lo+1]) && words[lo+1].start-w.end == 1 { // Line A
			out[w.term()+" "+words[lo+1].low] = true
		}
		addAnchor(out, w)
	}
	return out
}

// powers are words that only raise a number.
var powers = set(`hundred thousand million millions billion billions trillion tausend mio mrd millionen milliarde milliarden`)

// within reports a word that is part of a value.
func within(w word, vs []quantity.Quantity) bool {
	return slices.ContainsFunc(vs, func(v quantity.Quantity) bool { return w.start < v.End && w.end > v.Start })
}

// letter reports a word of a single capital.
func letter(w word) bool {
	return len(w.raw) == 1 && w.raw[0] >= 'A' && w.raw[0] <= 'Z' && w.raw != "I"
}

// surroundings are the anchors of a quantity of the sentence: close to it, up to commas, and all that are its own.
type surroundings struct {
	close, all map[string]bool
	contrast   bool // the sentence has two values of the kind, which it tells apart
	sentence   map[string]bool
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
	found := surroundings{all: segment(s.text, s.words, vs, i, from, to), close: map[string]bool{}, contrast: len(vs) > 1, sentence: s.anchors, partners: partners}
	close := segment(s.text, s.words, vs, i, max(from, cutBefore(s.text, q.Start)), min(to, cutBehind(s.text, q.End)))
	for a := range close {
		found.close[a] = found.all[a]
	}
	return found
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

// anaphora reports a word between two bytes that stands for what was named before.
func anaphora(words []word, from, to int) bool {
	lo, _ := slices.BinarySearchFunc(words, from, func(w word, b int) int { return w.start - b })
	return slices.ContainsFunc(words[lo:], func(w word) bool { return w.start < to && anaphoric[w.low] })
}

// differences are words before a value that is that of two others.
var differences = set(`difference gap unterschied differenz abstand`)

// misplaced reports that a value of a source belongs to something else than the sentence says: the anchors that tell it
// from another value of the sentence or table are the other one's.
func (t *text) misplaced(s *statement, q quantity.Quantity, p placed, around surroundings) bool {
	if q.Kind == quantity.Label || q.Kind == quantity.Ordinal {
		return false
	}
	if c, ok := t.cells[p.Start]; ok {
		return t.misplacedCell(s, q, p, c, around)
	}
	u := t.units[p.unit]
	words := t.words[u.from:u.to]
	vs := values(p.Quantity, t.inUnit(p.unit))
	if len(vs) < 2 || differences[wordBefore(t.words, p.Start)] || p.Kind == quantity.Date && len(anchorsIn(t.Text, words, u.start, p.Start, nil)) == 0 { // a date that begins a sentence is that of all of it
		return false
	}
	at := slices.IndexFunc(vs, func(v quantity.Quantity) bool { return v.Start == p.Start })
	if at < 0 {
		return false
	}
	own := segment(t.Text, words, vs, at, u.start, u.end)
	first, last := at, at
	for first > 0 && follows(t.Text, words, vs[first-1], vs[first]) {
		first--
	}
	for last+1 < len(vs) && follows(t.Text, words, vs[last], vs[last+1]) {
		last++
	}
	pairs := respective(t.Text, words, vs[first:last+1])
	if pairs != nil {
		own = pairs[at-first]
	}
	for i, v := range vs {
		if i == at || !countAlike(words, p.Quantity, v) || agree(q, v, s.text[q.Start:q.End], t.Text[v.Start:v.End]) != apart {
			continue
		}
		if slices.ContainsFunc(around.partners, func(o quantity.Quantity) bool {
			return agree(o, v, s.text[o.Start:o.End], t.Text[v.Start:v.End]) != apart
		}) {
			continue
		}
		their := segment(t.Text, words, vs, i, u.start, u.end)
		if pairs != nil && i >= first && i <= last {
			their = pairs[i-first]
		}
		if i < at && anaphora(words, cutBetween(t.Text, words, vs[at-1].End, vs[at].Start), cutBehind(t.Text, p.End)) { // since 2019 she has owned it all
			maps.DeleteFunc(their, func(a string, _ bool) bool { return t.isName(a) })
		}
		if t.belongs(around, own, their) || q.Kind == quantity.Date && s.opposes(own) || i > at && t.shortenedValue(around, words, vs, at, i, u) {
			return true
		}
	}
	return false
}

// opposes reports that the anchors of a value are the opposite of what the sentence says: it ended in October, for it began.
func (s *statement) opposes(anchors map[string]bool) bool {
	for _, w := range s.words {
		for a := range anchors {
			if a != w.term() && opposites[w.low][a] && !slices.ContainsFunc(s.words, func(o word) bool { return o.term() == a || opposites[o.low][w.low] }) {
				return true
			}
		}
	}
	return false
}

// inUnit returns the quantities of a unit, at most twenty.
func (t *text) inUnit(unit int) []quantity.Quantity {
	u := t.units[unit]
	at, _ := slices.BinarySearchFunc(t.quantities, u.start, func(p placed, b int) int { return p.Start - b })
	var out []quantity.Quantity
	for ; at < len(t.quantities) && t.quantities[at].Start < u.end && len(out) < 20; at++ {
		out = append(out, t.quantities[at].Quantity)
	}
	return out
}

// belongs reports that the words around a value of the sentence are their anchors and not its own. A name or a number
// tells more than another word.
func (t *text) belongs(around surroundings, own, their map[string]bool) bool {
	onlyOwn, onlyTheir := without(own, their), without(their, own)
	if !around.contrast && len(onlyOwn) > 0 && covers(around.sentence, onlyOwn) {
		return false // all that tells it from the other one is said
	}
	if otherPair(onlyOwn, onlyTheir, around) {
		return true
	}
	if own, their := wordsOf(maps.Clone(onlyOwn)), wordsOf(maps.Clone(onlyTheir)); len(own) > 0 && len(their) > 0 && covers(around.all, their) && len(shared(own, around.sentence)) == 0 {
		return true
	}
	if t.nameIn(shared(onlyTheir, around.close)) && t.nameIn(without(onlyOwn, around.sentence)) && !t.nameIn(shared(own, around.sentence)) {
		return true // 1,840 pairs in Norway, 410 in Estonia
	}
	mine, theirs, named, theirNamed := 0, 0, false, false
	for a := range around.all {
		if labelled(around.all, a) && (labelled(own, a) || labelled(their, a)) {
			continue // Editor 8 is one thing, and Editor 9 another
		}
		strong := t.isName(a) || strings.Contains(a, " ") || a[0] >= '0' && a[0] <= '9' && !(around.contrast && yearIn.MatchString(a))
		switch {
		case own[a] && !their[a]:
			mine++
			named = named || strong
		case their[a] && !own[a] && around.close[a]:
			theirs++
			theirNamed = theirNamed || strong
		}
	}
	return (theirs > 1 || theirs == 1 && around.contrast) && mine == 0 || theirNamed && !named && mine <= 1
}

// nameIn reports anchors of which one is a name.
func (t *text) nameIn(anchors map[string]bool) bool {
	for a := range anchors {
		if t.isName(a) {
			return true
		}
	}
	return false
}

// otherPair reports that the sentence says it of Line B, where this value is that of Line A and the other one that of B.
func otherPair(own, their map[string]bool, around surroundings) bool {
	for a := range own {
		word, _, pair := strings.Cut(a, " ")
		if !pair || around.sentence[a] {
			continue
		}
		for b := range their {
			if strings.HasPrefix(b, word+" ") && around.all[b] {
				return true
			}
		}
	}
	return false
}

// without returns the elements of a that b does not have.
func without(a, b map[string]bool) map[string]bool {
	out := map[string]bool{}
	for k := range a {
		if !b[k] {
			out[k] = true
		}
	}
	return out
}

// labelled reports that a number follows a word: Editor 8.
func labelled(anchors map[string]bool, word string) bool {
	for a := range anchors {
		if rest, ok := strings.CutPrefix(a, word); ok && rest != "" && rest[0] == ' ' {
			return true
		}
	}
	return false
}

// isName reports a word that a source always writes with a capital, in a language that does so with names only.
func (t *text) isName(term string) bool {
	return t.capitals[term] && !t.small[term] && t.language != "de"
}

// follows reports that nothing stands between two values but "and" or a comma.
func follows(text string, words []word, a, b quantity.Quantity) bool {
	return b.Start-a.End <= 12 && len(anchorsIn(text, words, a.End, b.Start, nil)) == 0
}

// respective returns the anchors of values that follow each other at once, when as many names do before them: "Tamberi
// and Nolu reported 5,102 and 3,377".
func respective(text string, words []word, vs []quantity.Quantity) []map[string]bool {
	if len(vs) < 2 {
		return nil
	}
	var lists [][]map[string]bool
	var list []map[string]bool
	last := -1
	for i, w := range words {
		if w.start >= vs[0].Start {
			break
		}
		if !w.capital() || w.term() == "" {
			continue
		}
		between := ""
		if last >= 0 {
			between = strings.TrimSpace(text[words[last].end:max(words[last].end, w.start)])
		}
		switch {
		case last >= 0 && between == "":
			addAnchor(list[len(list)-1], w)
		case last >= 0 && (between == "," || between == "and" || between == ", and" || between == "und" || between == "et"):
			list = append(list, map[string]bool{w.term(): true})
		default:
			lists = append(lists, list)
			list = []map[string]bool{{w.term(): true}}
		}
		last = i
	}
	lists = append(lists, list)
	for _, l := range lists {
		if len(l) == len(vs) {
			return l
		}
	}
	return nil
}
