package report

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/text"
)

// MaxTitleRunes is the maximum length of a heading. A longer line is a sentence.
const MaxTitleRunes = 120

var (
	// markup that models put around headings
	titleMarkup = " \t#*\"'“”‘’«»「」『』¶§"
	// emphasis with underscores, but not a single name such as __init__
	titleEmphasis = regexp.MustCompile(`^(_{1,3})([^_].* .*[^_])(_{1,3})$`)
	// numbering such as "1.", "2)", "3:", "IV.", "1.2.3 ", but not the number of "3 ways to wait" or "2024 in numbers"
	titleNumber = regexp.MustCompile(`^(?:\d{1,2}(?:\.\d{1,2})+[.):]?(?:\s+|$)|\d{1,2}[.):](?:\s+|$)|\d{1,2}、\s*|` +
		`[IVX]{1,5}[.)]\s+|[一二三四五六七八九十]{1,3}、\s*)`)
	// "Section 3:", "Chapter 2 -", "第三章"
	titlePart = regexp.MustCompile(`(?i)^(?:(?:sub)?(?:section|chapter|part)\s+\d{1,2}(?:\.\d{1,2})*\s*[:.–—-]\s*|` +
		`第[0-9一二三四五六七八九十]{1,3}[章节部分]+[:：、\s]*)`)
	// ids of this program, which do not belong in headings
	titleIDs = regexp.MustCompile(`(?i)[\[(【（]*\b(?:CIT-\d+-\d+|PLAN-\d+|block[_ ]\d+)\b[\])】）]*` +
		`(?:\(#[^)]*\))?[\])】）]*\s*[:：–—-]?`)
)

// CleanTitle converts a line from a model or a document to a heading. It removes numbering, markup, ids of citations
// and blocks, and closing punctuation. The result is one line of plain text with at most 120 characters, and may be
// empty.
func CleanTitle(s string) string {
	s = text.Line(strings.ToValidUTF8(s, ""))
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
	for range 8 { // nested markup such as `## **1. Title**`
		before := s
		s = titleEmphasis.ReplaceAllString(strings.Trim(strings.ReplaceAll(s, "`", ""), titleMarkup), "$2")
		s = strings.TrimSpace(titleIDs.ReplaceAllString(s, ""))
		s = titlePart.ReplaceAllString(titleNumber.ReplaceAllString(s, ""), "")
		s = strings.TrimSpace(strings.TrimRight(text.Line(s), ".:;,。：；，"))
		if s == before {
			break
		}
	}
	if utf8.RuneCountInString(s) <= MaxTitleRunes {
		return s
	}
	cut := string([]rune(s)[:MaxTitleRunes-1])
	if space := strings.LastIndexByte(cut, ' '); space > len(cut)/2 {
		cut = cut[:space]
	}
	return strings.TrimRight(cut, " ,;:.-–") + "…"
}

// SameTitle reports whether two headings differ only in case, punctuation and numbering.
func SameTitle(a, b string) bool { return TitleKey(a) == TitleKey(b) }

func TitleKey(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, CleanTitle(s))
}

// jsonResidue matches JSON syntax that a model left in a text of a JSON object.
var jsonResidue = regexp.MustCompile(`[{}]|["']\s*:|\\["n]|\[\s*\]|^\[.*\]$`)

// ReportTitle reports whether a model's title is usable for a report. It needs at least two words, or two characters of
// a script without spaces, and no JSON syntax.
func ReportTitle(s string) bool { return CountWords(s) > 1 && !jsonResidue.MatchString(s) }
