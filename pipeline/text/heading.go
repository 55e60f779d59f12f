package text

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTitle is the maximum length of a heading in characters, enough for a two-part question.
const maxTitle = 200

// Title returns a heading for a topic of any length. It consists of the first sentences that fit 200 characters, on one
// line. It starts with a capital, unless the first word is a name from code. A question keeps its question mark.
func Title(s string) string {
	s = unquoted(Line(strings.TrimLeft(s, "#> \t\n")))
	end := 0
	for _, sentence := range Sentences(s) {
		if utf8.RuneCountInString(s[:sentence.End]) > maxTitle {
			break
		}
		end = sentence.End
	}
	if end > 0 {
		s = s[:end]
	}
	return capitalised(Clip(strings.TrimRight(s, " .:;,。：，"), maxTitle))
}

// Heading returns the cleaned heading of a document, on one line of at most 200 characters. It removes numbering
// ("2.3.1", "Chapter 4."), anchors, site suffix, final stop and surrounding quotes. It returns "" for a text without
// letters.
func Heading(s string) string {
	s = Line(strings.TrimLeft(s, "#> \t\n"))
	s = strings.TrimSpace(strings.TrimRight(s, "¶§ "))
	s = strings.TrimSuffix(s, " "+strings.Repeat("#", len(s)-len(strings.TrimRight(s, "#")))) // "## Title ##", but "C#"
	s = numbering(siteSuffix(strings.TrimSpace(s)))
	s = Clip(unquoted(strings.TrimRight(s, " .:;,。：，¶")), maxTitle)
	if strings.IndexFunc(s, unicode.IsLetter) < 0 {
		return ""
	}
	return s
}

var (
	numberWord = regexp.MustCompile(`^(?i:chapter|section|part|appendix|lesson|unit|kapitel|abschnitt|capítulo|` +
		`chapitre|step)\s+([0-9]+(\.[0-9]+)*|[IVXLC]+|[A-Z])(\.[0-9]+)*\s*([.:)—–-]\s*|\s+)`)
	numberLead = regexp.MustCompile(`^(§\s*)?([0-9]+(\.[0-9]+)+\.?|[0-9]{1,3}[.)]|` +
		`[A-Z]\.[0-9]+(\.[0-9]+)*\.?|[IVX]{1,5}\.|第[0-9一二三四五六七八九十百]+[章节節部])[\s:：—–-]+`)
	separators = regexp.MustCompile(`\s+[|–—·»:-]\s+|\s+::\s+`)
	siteWord   = regexp.MustCompile(`(?i)\b(documentation|docs|manual|wiki|wikipedia|blog|handbook|` +
		`reference|guide|home ?page|website|developers?|tutorials?|` +
		`\.com|\.org|\.io|\.dev|github|gitlab|stack overflow|[0-9]+\.[0-9]+(\.[0-9]+)*)\b`)
)

// numbering removes leading numbers, unless nothing would remain.
func numbering(s string) string {
	for range 3 {
		cut := numberWord.FindStringIndex(s)
		if cut == nil {
			cut = numberLead.FindStringIndex(s)
		}
		if cut == nil || strings.IndexFunc(s[cut[1]:], unicode.IsLetter) < 0 {
			break
		}
		s = s[cut[1]:]
	}
	return strings.TrimSpace(s)
}

// siteSuffix removes a last part that names the site, such as "— Foo 1.2 documentation". After "|", "·", "»" or "::" it
// is always removed; after other separators only if it looks like a site, because it may belong to the title.
func siteSuffix(s string) string {
	for range 3 {
		all := separators.FindAllStringIndex(s, -1)
		if len(all) == 0 {
			return s
		}
		last := all[len(all)-1]
		before, mark, after := s[:last[0]], strings.TrimSpace(s[last[0]:last[1]]), s[last[1]:]
		always := mark == "|" || mark == "·" || mark == "»" || mark == "::"
		titled := strings.IndexFunc(before, unicode.IsLetter) >= 0 && len(strings.Fields(after)) <= 6
		site := mark != ":" && (always || siteWord.MatchString(after))
		if !titled || !site {
			return s
		}
		s = strings.TrimSpace(before)
	}
	return s
}

// unquoted removes quotes that enclose the whole text.
func unquoted(s string) string {
	for _, q := range [][2]string{{`"`, `"`}, {"“", "”"}, {"«", "»"}, {"„", "“"}, {"'", "'"}, {"**", "**"}, {"`", "`"}} {
		body, ok := strings.CutPrefix(s, q[0])
		if body, closed := strings.CutSuffix(body, q[1]); ok && closed && body != "" && !strings.Contains(body, q[0]) {
			return body
		}
	}
	return s
}

func capitalised(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if !unicode.IsLower(r) || identifierLike(firstField(s)) {
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}
