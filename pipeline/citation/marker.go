package citation

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Cited is what a marker cites. Models write [CIT-3-01], [cit-3-1, CIT-3-02], [[CIT-3-01](#ref-cit-3-01)],
// 【CIT-3-01†source】, \[CIT-3-01\], (CIT-3-01), CIT-3-01, [7], [^7], [1, 3-5], 【7†L1-L9】, [^name], ¹ and
// <sup>1</sup>.
type Cited struct {
	IDs      []string // canonical, in order; what only looks like an id as written
	Numbers  []int
	Name     string // of a footnote
	Locator  string // behind the only number: ", p. 5"
	Linked   bool   // the marker is a link to its reference
	Hash     bool   // numbers are written #1, as those of other things are
	Raised   bool   // a number is raised, or in escaped brackets
	Exponent bool   // a raised number behind a figure, letter or formula
	Bare     bool   // an id without brackets
}

// IsZero reports whether a token cites nothing.
func (c Cited) IsZero() bool { return len(c.IDs)+len(c.Numbers) == 0 && c.Name == "" }

// The parts of a marker.
const (
	citedID = `(?:CIT|cit|Cit|PLAN|plan|Plan)(?:` + dash + `[0-9A-Za-z０-９٠-٩۰-۹०-९]{1,6}){1,2}`
	number  = `#?` + digits + `{1,4}(?:\s?[-_‐‑‒–—−~～]\s?` + digits + `{1,4})?`
	// a place in the source behind its number
	locator = `(?:(?:\s?,\s?|\s|:\s?)(?i:(?:pp?|pages?|pgs?|chap|chapter|ch|sec|section` +
		`|figs?|figure|tab|table|lines?|slides?|eq|theorem|lemma|app|appendix|art|no|nr|paras?` +
		`|seiten?|ss?|kap|abb|abs|pags?|págs?|páginas?|cap|с|стр|гл|рис|табл)\.?\s?|§+\s?|第)|:\s)` +
		`[0-9][0-9.]{0,7}(?:\s?[-–]\s?[0-9]{1,5})?(?:\s?ff?\b\.?)?(?:页|頁|ページ|쪽|章)?`
	item = `\^?(?:` + citedID + `|` + number + `(?:` + locator + `)?)(?:†[^\]】\n]*)?`
	// words with which writers introduce ids within the brackets
	leads = `(?i:sources?|see also|see|refs?|citations?|cite|cf|e\.g|via|vgl|siehe|quellen?|voir|véase|fuentes?|см` +
		`|来源|参见|引用|见)`
	separator = `(?:[ \n\t,;&/^、，；،؛和及\x{a0}\x{ad}\x{200b}\x{2060}\x{feff}]` +
		`|\b(?:and|or|und|oder|et|ou|y)\b|[ ](?:и|или|و)[ ])`
	link = `(?:\(#[^()\s]*\))`
	part = `(?:\[` + item + `\]` + link + `?|` + item + `)`
	ids  = `(?:` + leads + `(?:[.,:：]+ ?| ))?` + citedID + `(?:` + separator + `+` + citedID + `)*`
)

var (
	markerForm = regexp.MustCompile(`[\[【［]\s?(?:` + leads + `(?:[.,:：]+ ?| ))?` + part +
		`(?:` + separator + `*` + part + `)*\s?[\]】］](?:` + link + `|\[\])?` +
		`|\\\[(?:` + ids + `|` + number + `(?:,\s?` + number + `)*)\\\]|[(（]` + ids + `[)）]|` + citedID +
		`|(?i:<sup>)\s?\[?` + number + `(?:[,;]\s?` + number + `)*\]?\s?(?i:</sup>)|[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}` +
		`|\^` + digits + `{1,3}\^` +
		`|\[\^([^\[\]\s^]+)\]`)
	itemForm = regexp.MustCompile(`(` + citedID + `)|(#?)(` + digits + `{1,4})` +
		`(?:\s?[-_‐‑‒–—−~～]\s?(` + digits + `{1,4}))?(` + locator + `)?`)
	source = regexp.MustCompile(`†[^\]】\n]*|` + link)
	// exponentBase ends with what a raised number is an exponent of, such as 10 and m.
	exponentBase = regexp.MustCompile(`(?i)(?:[0-9]|(?:^|[^a-z])[a-z]{1,2}|[$√∑∏])$`)
	raised       = strings.NewReplacer("⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7",
		"⁸", "8", "⁹", "9")
)

// markers collects the markers outside code.
func (t *Text) markers(plain string) {
	for _, m := range markerForm.FindAllStringSubmatchIndex(plain, -1) {
		k := Token{Kind: KindMarker, Start: m[0], End: m[1]}
		if m[2] >= 0 {
			k.Name = plain[m[2]:m[3]]
		} else if k.Cited = cited(plain[m[0]:m[1]]); k.IsZero() {
			continue
		}
		before := plain[:m[0]]
		if k.Bare {
			last, _ := utf8.DecodeLastRuneInString(before)
			next, _ := utf8.DecodeRuneInString(plain[m[1]:])
			within := before != "" && (isWord(last) || strings.ContainsRune("/#-.@=", last))
			if within || isWord(next) || strings.ContainsRune("-/", next) {
				continue
			}
		}
		first, _ := utf8.DecodeRuneInString(plain[m[0]:])
		k.Raised = !strings.ContainsRune("[【［", first)
		k.Exponent = k.Raised && first != '\\' && exponentBase.MatchString(before[max(0, len(before)-8):])
		t.Tokens = append(t.Tokens, k)
	}
}

// citedBy reads a text that is a marker as a whole.
func citedBy(s string) (Cited, bool) {
	if m := markerForm.FindStringIndex(s); m == nil || m[0] > 0 || m[1] < len(s) {
		return Cited{}, false
	}
	c := cited(s)
	return c, !c.IsZero()
}

// maxRange bounds [1-30]; more is a span of years or pages.
const maxRange = 60

// cited reads the content of a marker.
func cited(marker string) (c Cited) {
	first, _ := utf8.DecodeRuneInString(marker)
	square := strings.ContainsRune("[【［", first)
	c.Linked, c.Bare = strings.Contains(marker, "](#"), strings.ContainsRune("CcPp", first)
	for _, m := range itemForm.FindAllStringSubmatch(raised.Replace(source.ReplaceAllString(marker, "")), -1) {
		if m[1] != "" {
			id, ok := ParseID(m[1])
			switch {
			case !ok && (!square || !strings.ContainsAny(m[1], "0123456789")):
				return Cited{} // a name such as CIT-10
			case !ok:
				c.IDs = append(c.IDs, m[1])
				continue
			case !square && (c.Bare || id.Block == 0) && m[1] != id.String():
				return Cited{} // "(plan 9)" and the like are words, "(PLAN-09)" is a marker
			}
			c.IDs = append(c.IDs, id.String())
			continue
		}
		first, last := Number(m[3]), Number(m[4])
		c.Hash, c.Locator = c.Hash || m[2] != "", m[5]
		for n := first; n <= max(first, min(last, first+maxRange)); n++ {
			c.Numbers = append(c.Numbers, n)
		}
		if last-first >= maxRange {
			c.Numbers = c.Numbers[:len(c.Numbers)-maxRange]
		}
	}
	if len(c.Numbers) > 1 {
		c.Locator = ""
	}
	return c
}

// ranges are words after which [1, 2] is an interval and no citation.
var ranges = []string{"interval", "range", "in", "between", "from", "to", "of", "over", "=", "∈", "区间", "范围"}

// index is what follows an index.
var index = regexp.MustCompile(`^(?: ?=|\()`)

// name is a word that programs index: a variable or field.
var name = regexp.MustCompile(`(?:^|[^\pL\pN])[a-z]$|[A-Za-z0-9]*[_.][A-Za-z0-9_.]*[A-Za-z0-9]$`)

// IsCitation reports whether the numbers of a marker read like citations: not arr[2], [2024], the interval [0, 1] or
// anything in a formula. listed: the text has references of these numbers. rowEnd: where the marker before it ends.
func (t *Text) IsCitation(k Token, listed bool, rowEnd int) bool {
	if k.Exponent || k.Raised && !listed || t.math.Has(k.Start) {
		return false
	}
	before, glued := t.Markdown[:k.Start], false
	if k.Start != rowEnd && k.Start > 0 && strings.HasPrefix(t.Markdown[k.Start:], "[") {
		last := before[k.Start-1]
		glued = endsInWord(before) || last == ']' || last == ')' || last == '$'
	}
	if listed {
		isIndex := index.MatchString(t.Markdown[k.End:]) || name.MatchString(before[max(0, len(before)-200):])
		return !glued || k.Name != "" || strings.HasPrefix(t.Markdown[k.Start:], "[^") || !isIndex
	}
	words := strings.Fields(before[max(0, len(before)-60):])
	interval := len(k.Numbers) == 2 && len(words) > 0 && slices.Contains(ranges, strings.ToLower(words[len(words)-1]))
	invented := func(n int) bool { return n == 0 || n >= 1000 } // years, sizes; references are counted from 1
	return !glued && !interval && !k.Hash && !slices.ContainsFunc(k.Numbers, invented)
}

// formula is text between $ or $$ in one paragraph, or an escaped character. As in Pandoc, the text begins and ends
// without a space and no digit follows the closing $, so that "$5 and $6" is money.
var formula = regexp.MustCompile(`\\(?s:.)|\$\$(?:[^$\n]|\n[^$\n])+\$\$|\$[^\s$](?:(?:[^$\n]|\n[^$\n])*[^\s$])?\$`)

func mathSpans(md string) (found Spans) {
	if !strings.Contains(md, "$") {
		return nil
	}
	for _, m := range formula.FindAllStringIndex(md, -1) {
		isMoney := md[m[0]:m[0]+2] != "$$" && m[1] < len(md) && md[m[1]] >= '0' && md[m[1]] <= '9'
		if md[m[0]] == '$' && !isMoney {
			found = append(found, Span{m[0], m[1]})
		}
	}
	return found
}
