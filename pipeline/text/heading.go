package text

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTitle is the length of a heading in characters.
const maxTitle = 90

// Title makes a heading of a topic of any length: as Heading, but its first letter becomes a capital unless the word
// is a name from code.
func Title(s string) string { return capitalised(Heading(s)) }

// Heading cleans the heading of a document: without numbering ("2.3.1", "Chapter 4."), anchors, site suffix, closing
// stop and surrounding quotes, in one line of at most 90 characters cut at a word. A paragraph gives its first
// sentence. The case is the document's own: "gc" is a name that no rule can tell from a word. Empty for a text
// without letters.
func Heading(s string) string {
	s = strings.Join(strings.Fields(strings.TrimLeft(s, "#> \t\n")), " ")
	s = strings.TrimSpace(strings.TrimRight(s, "¶§ "))
	s = strings.TrimSuffix(s, " "+strings.Repeat("#", len(s)-len(strings.TrimRight(s, "#")))) // "## Title ##", but "C#"
	s = strings.TrimSpace(s)
	s = siteSuffix(s)
	s = numbering(s)
	if ss := Sentences(s); len(ss) > 1 && utf8.RuneCountInString(s) > maxTitle {
		s = ss[0].Text
	}
	s = strings.TrimRight(s, " .:;,。：，¶")
	s = unquoted(s)
	s = clip(s, maxTitle)
	s = strings.TrimSpace(s)
	if strings.IndexFunc(s, unicode.IsLetter) < 0 {
		return ""
	}
	return s
}

var (
	numberWord = regexp.MustCompile(`^(?i:chapter|section|part|appendix|lesson|unit|kapitel|abschnitt|capítulo|chapitre|step)\s+([0-9]+(\.[0-9]+)*|[IVXLC]+|[A-Z])(\.[0-9]+)*\s*([.:)—–-]\s*|\s+)`)
	numberLead = regexp.MustCompile(`^(§\s*)?([0-9]+(\.[0-9]+)+\.?|[0-9]{1,3}[.)]|[A-Z]\.[0-9]+(\.[0-9]+)*\.?|[IVX]{1,5}\.|第[0-9一二三四五六七八九十百]+[章节節部])[\s:：—–-]+`)
	separators = regexp.MustCompile(`\s+[|–—·»:-]\s+|\s+::\s+`)
	siteWord   = regexp.MustCompile(`(?i)\b(documentation|docs|manual|wiki|wikipedia|blog|handbook|reference|guide|home ?page|website|developers?|tutorials?|\.com|\.org|\.io|\.dev|github|gitlab|stack overflow|[0-9]+\.[0-9]+(\.[0-9]+)*)\b`)
)

// numbering takes numbers off the front; what would be left empty is kept.
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

// siteSuffix takes off "— Foo 1.2 documentation" and the like: a last part, after a separator, that names the site. A
// part behind "|" or "·" always does; behind a dash it may belong to the title, so it has to look like a site.
func siteSuffix(s string) string {
	for range 3 {
		all := separators.FindAllStringIndex(s, -1)
		if len(all) == 0 {
			return s
		}
		last := all[len(all)-1]
		before, mark, after := s[:last[0]], strings.TrimSpace(s[last[0]:last[1]]), s[last[1]:]
		always := mark == "|" || mark == "·" || mark == "»" || mark == "::"
		if strings.IndexFunc(before, unicode.IsLetter) < 0 || len(strings.Fields(after)) > 6 || mark == ":" || !always && !siteWord.MatchString(after) {
			return s
		}
		s = strings.TrimSpace(before)
	}
	return s
}

// unquoted takes quotes off a text that stands in them as a whole.
func unquoted(s string) string {
	for _, q := range [][2]string{{`"`, `"`}, {"“", "”"}, {"«", "»"}, {"„", "“"}, {"'", "'"}, {"**", "**"}, {"`", "`"}} {
		body, ok := strings.CutPrefix(s, q[0])
		if body, closed := strings.CutSuffix(body, q[1]); ok && closed && body != "" && !strings.Contains(body, q[0]) {
			return body
		}
	}
	return s
}

// clip cuts s at a word so that it has at most limit characters, and takes off what would dangle: articles,
// prepositions, an open bracket. No ellipsis: a heading is not a quotation.
func clip(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	rs := []rune(s)
	cut := limit
	for i := limit; i > limit/2; i-- {
		if unicode.IsSpace(rs[i]) {
			cut = i
			break
		}
	}
	// A clause border in the second half makes a better heading than the last word that fits.
	for i := cut - 1; i > limit/2; i-- {
		if strings.ContainsRune(",;:–—，；：", rs[i]) && (i+1 >= len(rs) || unicode.IsSpace(rs[i+1]) || Wide(rs[i+1])) {
			cut = i
			break
		}
	}
	out := strings.TrimRightFunc(string(rs[:cut]), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;:-–—(/", r) })
	if open := strings.LastIndexByte(out, '('); open > 0 && !strings.Contains(out[open:], ")") {
		out = strings.TrimSpace(out[:open])
	}
	for {
		i := strings.LastIndexByte(out, ' ')
		if i < 0 || !stopWords[strings.ToLower(strings.Trim(out[i+1:], ",;:"))] {
			return strings.TrimRight(out, " ,;:")
		}
		out = strings.TrimRight(out[:i], " ,;:")
	}
}

func capitalised(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if !unicode.IsLower(r) || identifierLike(firstField(s)) {
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}
