package reporting

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/text"
)

// maxTitleRunes bounds a heading; what is longer is a sentence and no heading.
const maxTitleRunes = 120

var (
	// markup at the ends of a line that models write around headings
	titleMarkup = " \t#*\"'“”‘’«»「」『』¶§"
	// emphasis with underscores; a lone name such as __init__ keeps them
	titleEmphasis = regexp.MustCompile(`^(_{1,3})([^_].* .*[^_])(_{1,3})$`)
	// "1.", "2)", "3:", "IV.", "1.2.3 ": numbering, but not the number of "3 ways to wait" or "2024 in numbers"
	titleNumber = regexp.MustCompile(`^(?:\d{1,2}(?:\.\d{1,2})+[.):]?(?:\s+|$)|\d{1,2}[.):](?:\s+|$)|\d{1,2}、\s*|[IVX]{1,5}[.)]\s+|[一二三四五六七八九十]{1,3}、\s*)`)
	// "Section 3:", "Chapter 2 -", "第三章"
	titlePart = regexp.MustCompile(`(?i)^(?:(?:sub)?(?:section|chapter|part)\s+\d{1,2}(?:\.\d{1,2})*\s*[:.–—-]\s*|第[0-9一二三四五六七八九十]{1,3}[章节部分]+[:：、\s]*)`)
	// ids of this program have no place in a heading
	titleIDs = regexp.MustCompile(`(?i)[\[(【（]*\b(?:CIT-\d+-\d+|PLAN-\d+|block[_ ]\d+)\b[\])】）]*(?:\(#[^)]*\))?[\])】）]*\s*[:：–—-]?`)
)

// CleanTitle makes a heading of a line that a model or a document gave: one line without numbering, markup, ids of
// citations and blocks, and closing punctuation, at most 120 characters. The result is plain text; it may be empty.
func CleanTitle(s string) string {
	s = text.Line(strings.ToValidUTF8(s, ""))
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
	for range 8 { // layers such as `## **1. Title**`
		before := s
		s = titleEmphasis.ReplaceAllString(strings.Trim(strings.ReplaceAll(s, "`", ""), titleMarkup), "$2")
		s = strings.TrimSpace(titleIDs.ReplaceAllString(s, ""))
		s = titlePart.ReplaceAllString(titleNumber.ReplaceAllString(s, ""), "")
		s = strings.TrimSpace(strings.TrimRight(text.Line(s), ".:;,。：；，"))
		if s == before {
			break
		}
	}
	if utf8.RuneCountInString(s) <= maxTitleRunes {
		return s
	}
	cut := string([]rune(s)[:maxTitleRunes-1])
	if space := strings.LastIndexByte(cut, ' '); space > len(cut)/2 {
		cut = cut[:space]
	}
	return strings.TrimRight(cut, " ,;:.-–") + "…"
}

// sameTitle reports whether two headings are the same apart from case, punctuation and numbering.
func sameTitle(a, b string) bool { return titleKey(a) == titleKey(b) }

func titleKey(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, CleanTitle(s))
}

// jsonResidue is what a model leaves in a text that it wrote as a part of an object.
var jsonResidue = regexp.MustCompile(`[{}]|["']\s*:|\\["n]|\[\s*\]|^\[.*\]$`)

// reportTitle reports whether a model's title can stand above a report: two words at least, or several signs of a
// script without spaces, and nothing of the object that it was sent in.
func reportTitle(s string) bool {
	words, run := 0, 0
	for word := range strings.FieldsSeq(s) {
		if strings.ContainsFunc(word, unicode.IsLetter) {
			words++
		}
	}
	for _, r := range s {
		if text.Wide(r) {
			run++
		}
	}
	return (words > 1 || run > 1) && !jsonResidue.MatchString(s)
}
