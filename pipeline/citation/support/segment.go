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
