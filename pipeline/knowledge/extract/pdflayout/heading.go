package pdflayout

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/knowledge/extract/pdf"

	"nightdesk/pipeline/knowledge/extract/document"
)

// headingMark marks a heading of the given level that spans the given number of lines.
type headingMark struct {
	level, lines int
	text         string // text from the outline; empty to use that of the lines
}

// headingLevels finds the headings among the lines. It uses the file's outline if enough of its entries are found in
// the text. Otherwise it uses consecutively numbered lines and lines in larger type.
func headingLevels(lines []textLine, body float64, bookmarks []pdf.Bookmark, title string) map[int]headingMark {
	found := fromBookmarks(lines, bookmarks)
	if len(found) >= 2 && len(found)*5 >= len(bookmarks)*2 {
		return found
	}
	found = map[int]headingMark{}
	numbered := fromNumbers(lines, body)
	large := fromSizes(lines, body, title, len(numbered) < 3)
	for i, m := range large {
		found[i] = m
	}
	maps.Copy(found, numbered)
	if len(numbered) >= 3 { // the numbers determine the levels; large lines without a number are on the level of chapters
		for i, m := range large {
			if _, both := numbered[i]; !both {
				found[i] = headingMark{level: 1, lines: m.lines}
			}
		}
	}
	return found
}

var sectionNumber = regexp.MustCompile(`^(\d{1,2}(?:\.\d{1,3}){0,4})\.?\s+\p{Lu}`)

// fromNumbers finds lines such as "3.1 Results" that are styled or set apart and numbered consecutively.
func fromNumbers(lines []textLine, body float64) map[int]headingMark {
	out := map[int]headingMark{}
	var last []int
	for i, l := range lines {
		m := sectionNumber.FindStringSubmatch(l.text)
		if m == nil || l.cells != nil || len(l.text) > 110 || endsWith(l.text, ".,;:") {
			continue
		}
		if leaders.MatchString(l.text) {
			continue
		}
		var number []int
		for part := range strings.SplitSeq(m[1], ".") {
			n, _ := strconv.Atoi(part)
			number = append(number, n)
		}
		styled := l.bold || l.size > 1.08*body
		apart := i == 0 || lines[i-1].page != l.page || l.y0-lines[i-1].y1 > 0.35*l.size || l.y0 < lines[i-1].y0
		if !styled && (!apart || len(number) < 2) || !follows(last, number) {
			continue
		}
		last = number
		out[i] = headingMark{level: min(6, len(number)), lines: 1}
	}
	return out
}

// follows reports whether section number next can follow last, as in 1, 1.1, 1.2, 2.
func follows(last, next []int) bool {
	if len(last) == 0 {
		return next[0] <= 1 && (len(next) == 1 || next[len(next)-1] <= 1)
	}
	if len(next) == len(last)+1 {
		return slices.Equal(next[:len(last)], last) && next[len(last)] <= 1
	}
	k := len(next) - 1
	return k < len(last) && slices.Equal(next[:k], last[:k]) && next[k] == last[k]+1
}

// fromSizes finds lines in larger type and, if bold is set, isolated bold lines. The largest type is the highest level.
func fromSizes(lines []textLine, body float64, title string, bold bool) map[int]headingMark {
	type candidate struct{ at, n int }
	var all []candidate
	for i := 0; i < len(lines); {
		l := lines[i]
		if bold && standsOut(lines, i, body) && !large(l, body) {
			all = append(all, candidate{i, 1})
			i++
			continue
		}
		if !large(l, body) {
			i++
			continue
		}
		n, text := 1, l.text
		for i+n < len(lines) && continuesLarge(lines[i+n], lines[i+n-1], l, body, 0.8*l.size) {
			text += " " + lines[i+n].text
			n++
		}
		if n <= 4 && len(text) <= 200 && letterShare(text) > 0.5 && !endsWith(text, ".,;") {
			all = append(all, candidate{i, n})
		}
		i += n
	}
	var sizes []float64
	for _, c := range all {
		s := lines[c.at].size
		if squeeze(lines[c.at].text) == squeeze(title) {
			continue
		}
		if !slices.ContainsFunc(sizes, func(o float64) bool { return math.Abs(o-s) < 0.06*s }) {
			sizes = append(sizes, s)
		}
	}
	slices.Sort(sizes)
	slices.Reverse(sizes)
	out := map[int]headingMark{}
	for _, c := range all {
		level := 1
		for k, s := range sizes {
			if math.Abs(s-lines[c.at].size) < 0.06*s {
				level = min(6, k+1)
				break
			}
		}
		out[c.at] = headingMark{level: level, lines: c.n}
	}
	if len(out)*3 > len(lines) { // slides or posters, where everything is large
		return map[int]headingMark{}
	}
	return out
}

// standsOut reports whether a line is bold, short and separated from the lines above and below.
func standsOut(lines []textLine, i int, body float64) bool {
	l := lines[i]
	if !l.bold || l.cells != nil || l.size < 0.97*body || i+1 == len(lines) {
		return false
	}
	if len(l.text) > 100 || utf8.RuneCountInString(l.text) < 3 || letterShare(l.text) < 0.6 || endsWith(l.text, ".,;:") {
		return false
	}
	above, below := math.Inf(1), lines[i+1]
	if i > 0 && lines[i-1].page == l.page && lines[i-1].y0 < l.y0 {
		above = l.y0 - lines[i-1].y1
	}
	goesOn := below.bold && below.cells == nil && below.y0-l.y1 < 0.45*l.size && below.y0 > l.y0
	return above > 0.45*l.size && !goesOn
}

// continuesLarge reports whether a line continues a heading in large type that begins with the line first. reach is the
// maximum distance from the last line.
func continuesLarge(l, last, first textLine, body, reach float64) bool {
	return large(l, body) && math.Abs(l.size-first.size) < 0.06*first.size && l.below(last, reach)
}

func endsWith(s, marks string) bool { return strings.ContainsAny(s[len(s)-1:], marks) }

func large(l textLine, body float64) bool {
	return l.cells == nil && l.size > 1.15*body && utf8.RuneCountInString(l.text) >= 3 && hasLetter(l.text)
}

func letterShare(s string) float64 {
	letters, all := 0, 0
	for _, r := range s {
		if !unicode.IsSpace(r) {
			all++
			if unicode.IsLetter(r) {
				letters++
			}
		}
	}
	return float64(letters) / float64(max(all, 1))
}

// largeTitle returns the largest lines of the first page with large lines, if it is among the first two pages.
func largeTitle(lines []textLine, body float64) string {
	best := -1
	for i, l := range lines {
		if l.page > 2 || best >= 0 && l.page > lines[best].page {
			break
		}
		if large(l, body) && letterShare(l.text) > 0.5 && (best < 0 || l.size > 1.03*lines[best].size) {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	title := lines[best].text
	for i := best + 1; i < min(best+4, len(lines)); i++ {
		if !continuesLarge(lines[i], lines[i-1], lines[best], body, lines[best].size) {
			break
		}
		title += " " + lines[i].text
	}
	if title = document.Clean(title); len(title) > 250 {
		return ""
	}
	return title
}
