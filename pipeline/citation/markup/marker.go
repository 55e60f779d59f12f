package markup

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Group is a bracketed marker as models write it: [CIT-3-01], [CIT-3-01, CIT-3-02], [[CIT-3-01](#ref-cit-3-01)],
// 【CIT-3-01】, (CIT-3-01), [7], [^7], 【7†L1-L9】.
type Group struct {
	End     int    // bytes into the text
	IDs     []ID   // in order, possibly repeated
	Numbers []int  // bare numbers
	Dest    string // of the link that the brackets make, if they do
	Locator string // what follows the only number: ", p. 5"
	Hash    bool   // numbers are written #1, as those of other things are
	Round   bool   // the brackets are round ones
}

// named reports whether the group has something that only looks like an id.
func (g Group) named() bool {
	return slices.ContainsFunc(g.IDs, func(id ID) bool { return id.raw != "" })
}

// maxNesting bounds brackets within brackets; more than two levels are not a marker that anybody writes.
const maxNesting = 3

// ParseGroup reads a marker group whose opening bracket stands at s[i]. A bracket with anything else in it is none.
func ParseGroup(s string, i, depth int) (Group, bool) {
	var g Group
	open, size := utf8.DecodeRuneInString(s[i:])
	closing := ClosingBracket(open)
	if closing == 0 || depth > maxNesting {
		return g, false
	}
	g.Round = open == '(' || open == '（'
	i = skipLead(s, i+size)
	for {
		i = skipSeparators(s, i)
		if i >= len(s) {
			return g, false
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == closing {
			i += size
			break
		}
		if ClosingBracket(r) != 0 {
			inner, ok := ParseGroup(s, i, depth+1)
			if !ok {
				return g, false
			}
			g.IDs, g.Numbers, i = append(g.IDs, inner.IDs...), append(g.Numbers, inner.Numbers...), inner.End
			g.Hash = g.Hash || inner.Hash
			if g.Dest == "" {
				g.Dest = inner.Dest
			}
			continue
		}
		id, n := scanID(s[i:])
		if n == 0 && !g.Round {
			id, n = scanLookalike(s[i:])
		}
		if n > 0 {
			if g.Round && id.Block == 0 && s[i:i+n] != id.String() {
				return g, false // "(plan 9)" and the like are words, "(PLAN-09)" is a marker
			}
			g.IDs, i = append(g.IDs, id), skipPlace(s, i+n, closing)
			continue
		}
		if r == '#' {
			g.Hash = true
			i++
		}
		number, n := ScanNumber(s[i:])
		if n == 0 || g.Round && depth == 0 && len(g.IDs) == 0 {
			return g, false
		}
		if place := locator.FindString(s[i+n : min(len(s), i+n+40)]); place != "" {
			g.Numbers, g.Locator, i = append(g.Numbers, number), place, i+n+len(place)
			continue
		}
		var last int
		last, i = skipRange(s, i+n, closing)
		if last < number || last-number >= maxRange {
			last = number
		}
		g.Numbers = appendRange(g.Numbers, number, last)
	}
	if len(g.IDs)+len(g.Numbers) == 0 {
		return g, false
	}
	if len(g.Numbers) > 1 {
		g.Locator = ""
	}
	if closing != ')' && closing != '）' {
		if dest, end, ok := linkDestination(s, i); ok {
			g.Dest, i = dest, end
		} else if depth == 0 && open == '[' && strings.HasPrefix(s[i:], "[]") { // refers to a definition of its own number
			i += len("[]")
		}
	}
	if g.Dest != "" && (g.Hash || g.named() && !strings.HasPrefix(g.Dest, "#")) {
		return g, false // [#12](address) is a link to an issue or a comment, [CIT-100](address) one to anything
	}
	g.End = i
	return g, true
}

// joined is a marker that ends a range which began with the marker before it: [1]–[3].
var joined = regexp.MustCompile(`^ ?[-‐‑–—] ?\[([0-9]{1,3})\]`)

// parseRange reads a marker group, or two that are the ends of a range.
func parseRange(s string, i int) (Group, bool) {
	g, ok := ParseGroup(s, i, 0)
	if !ok || len(g.Numbers) != 1 || len(g.IDs) > 0 || g.Dest != "" {
		return g, ok
	}
	if m := joined.FindStringSubmatch(s[g.End:min(len(s), g.End+16)]); m != nil {
		last, _ := ScanNumber(m[1])
		if first := g.Numbers[0]; first < last && last-first < maxRange {
			g.Numbers, g.End = appendRange(nil, first, last), g.End+len(m[0])
		}
	}
	return g, ok
}

func appendRange(numbers []int, first, last int) []int {
	for n := first; n <= last; n++ {
		numbers = append(numbers, n)
	}
	return numbers
}

var closing = map[rune]rune{'[': ']', '(': ')', '【': '】', '（': '）', '［': '］'}

// ClosingBracket returns the bracket that ends a marker, and 0 for what does not begin one.
func ClosingBracket(open rune) rune { return closing[open] }

// destination is "(address)" or "(address "title")". The address may hold parentheses in pairs.
var destination = regexp.MustCompile(`^\(\s*<?((?:[^\s()<>\\]|\\.|\([^\s()]*\))*)>?` +
	`(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)`)

// linkDestination reads the address of a link at s[i].
func linkDestination(s string, i int) (dest string, end int, ok bool) {
	const limit = 4096 // longer ones are not links that anybody follows, and the search must be bounded
	m := destination.FindStringSubmatch(s[i:min(len(s), i+limit)])
	if m == nil {
		return "", 0, false
	}
	return m[1], i + len(m[0]), true
}

// leads are words with which writers introduce ids inside the brackets. What begins with another one stands before it.
var leads = []string{"sources", "source", "see also", "see", "refs", "ref", "citations", "citation", "cite", "cf",
	"e.g", "via", "vgl", "siehe", "quellen", "quelle", "voir", "véase", "fuente", "см", "来源", "参见", "引用", "见"}

// leadForm is one of them with the marks behind it.
var leadForm = regexp.MustCompile(`(?i)^(?:` + strings.Join(leads, "|") + `)([.:：]*)`)

func skipLead(s string, i int) int {
	i = skipSeparators(s, i)
	m := leadForm.FindStringSubmatchIndex(s[i:min(len(s), i+24)])
	if m == nil {
		return i
	}
	if next, _ := utf8.DecodeRuneInString(s[i+m[1]:]); m[2] == m[3] && isWord(next) {
		return i
	}
	return i + m[1]
}

// separators are what stands between ids: white space, commas, "and", a footnote's ^.
var separators = regexp.MustCompile(`^(?:` + separator + `*[ ](?:and|or|und|oder|et|ou|y|e|o|en|и|или) |` +
	separator + `)*`)

const separator = `[\n \t\r\x{a0}\x{ad}\x{200b}\x{2060}\x{feff},;&/^，、；،؛和及]`

// skipSeparators skips separators up to one line break. What has more is no marker.
func skipSeparators(s string, i int) int {
	found := separators.FindString(s[i:min(len(s), i+100)])
	if strings.Count(found, "\n") > 1 {
		return len(s)
	}
	return i + len(found)
}

// locator names a place in the source behind its number.
var locator = regexp.MustCompile(`(?i)^(?:(?:\s?,\s?|\s|:\s?)(?:(?:pp?|pages?|pgs?|chap|chapter|ch|sec|section` +
	`|figs?|figure|tab|table|lines?|slides?|eq|theorem|lemma|app|appendix|art|no|nr|paras?` +
	`|seiten?|ss?|kap|abb|abs|pags?|págs?|páginas?|cap|с|стр|гл|рис|табл)\.?\s?|§+\s?|第)|:\s)` +
	`[0-9][0-9.]{0,7}(?:\s?[-–]\s?[0-9]{1,5})?(?:\s?ff?\b\.?)?(?:页|頁|ページ|쪽|章)?`)

// maxRange bounds [1-30]; more is a span of years or pages.
const maxRange = 60

// rangeDash stands between the ends of a range.
var rangeDash = regexp.MustCompile(`^ ?[-_‐‑‒–—−~～] ?`)

// skipRange skips what follows a number within brackets: "-5" of a range, whose end it returns, or a place.
func skipRange(s string, i int, closing rune) (last, end int) {
	dash := len(rangeDash.FindString(s[i:min(len(s), i+8)]))
	last, digits := ScanNumber(s[i+dash:])
	if dash == 0 || digits == 0 {
		return 0, skipPlace(s, i, closing)
	}
	return last, i + dash + digits
}

// skipPlace skips a place in a source before the closing bracket: "†L1-L9" of a browsing model.
func skipPlace(s string, i int, closing rune) int {
	if rest := s[i:min(len(s), i+84)]; strings.HasPrefix(rest, "†") {
		return i + max(0, strings.IndexRune(rest, closing))
	}
	return i
}
