package verification

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/text"
)

// heading is a line, or a line and its underline, that could name what follows it.
type heading struct {
	label string // folded, without markup
	level int    // 1 to 6; 7: bold or plain text on a line of its own
	plain bool   // nothing but its words makes it a heading
	lines int
}

var (
	atxLine      = regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]*(.*?)[ \t]*#*[ \t]*$`)
	emphasisLine = regexp.MustCompile(`^ {0,3}(?:\*{1,3}|_{1,3})([^*_]{1,60})(?:\*{1,3}|_{1,3})[ \t]*[:：]?[ \t]*$`)
	htmlHeading  = regexp.MustCompile(`(?i)^ {0,3}<h([1-6])[^>]*>([^<]{1,80})</h[1-6]>[ \t]*$`)
	underline    = regexp.MustCompile(`^ {0,3}(?:=+|-{2,})[ \t]*$`)
	numbering    = regexp.MustCompile(`^(?:(?:[0-9]{1,2}(?:\.[0-9]{1,2})*[.)]?|[ivxIVX]{1,5}[.)]|[A-Z][.)]` +
		`|[一二三四五六七八九十]{1,3}[、.．])\s*)`)
)

// headingAt recognises the heading at line i.
func headingAt(text string, lines []textLine, i int) (heading, bool) {
	line := lines[i].of(text)
	if lines[i].code || len(line) > 300 || strings.TrimSpace(line) == "" {
		return heading{}, false
	}
	h, label := heading{level: 7, lines: 1}, line
	if m := atxLine.FindStringSubmatch(line); m != nil {
		h.level, label = len(m[1]), m[2]
	} else if m := htmlHeading.FindStringSubmatch(line); m != nil {
		h.level, label = int(m[1][0]-'0'), m[2]
	} else if i+1 < len(lines) && underline.MatchString(lines[i+1].of(text)) &&
		(i == 0 || strings.TrimSpace(lines[i-1].of(text)) == "") {
		h.level, h.lines = 2, 2
		if strings.Contains(lines[i+1].of(text), "=") {
			h.level = 1
		}
	} else if m := emphasisLine.FindStringSubmatch(line); m != nil {
		label = m[1]
	} else if h.plain = true; len(line) > 80 {
		return heading{}, false
	}
	h.label = headingLabel(label)
	return h, true
}

func headingLabel(s string) string {
	s = strings.Trim(text.Line(s), "*_ ")
	s = strings.TrimLeftFunc(s, func(r rune) bool { return r > 0x7f && !unicode.IsLetter(r) || r == '[' })
	s = numbering.ReplaceAllString(strings.TrimSpace(s), "")
	return strings.ToLower(strings.Trim(s, "*_:：. ]【】"))
}

// listNames is listname.txt: names of lists of references, folded, parted by bars and line breaks.
//
//go:embed listname.txt
var listNames string

// referenceLabels are the names of lists, firstWords the first words of all names.
var referenceLabels, firstWords = func() (labels, words map[string]bool) {
	labels, words = map[string]bool{}, map[string]bool{}
	for label := range strings.FieldsFuncSeq(listNames, func(r rune) bool { return r == '|' || r == '\n' }) {
		labels[label], words[firstWord(label)] = true, true
	}
	return labels, words
}()

// firstWord returns the beginning of a label up to what may follow or join one.
func firstWord(label string) string {
	for i, r := range label {
		if r <= ' ' || strings.ContainsRune("/&|,・(（和与及", r) {
			return label[:i]
		}
	}
	return label
}

// softLabels name other things as well: the entries below them must lead somewhere.
var softLabels = map[string]bool{"notes": true, "note": true, "notas": true, "anmerkungen": true, "literature": true,
	"further reading": true, "文献": true, "注释": true, "参考": true, "参照": true, "引用": true}

// english labels are written as one, so that reports of different writers look alike.
var english = map[string]bool{"sources": true, "references": true, "reference list": true}

var (
	// labelNote is what stands behind a label in brackets: "sources (12)".
	labelNote = regexp.MustCompile(`^([^(（]+?)\s*[(（][^()（）/]{0,40}[)）]$`)
	labelJoin = regexp.MustCompile(`\s*(?:[/&|,・]|\b(?:and|und|et|y|e|en|och|og)\b|\s(?:и|та|i|و)\s|\sو|\s및\s` +
		`|和|与|及)\s*`)
)

// isReferenceLabel reports whether a heading's words name a list of references, in any of the languages known here:
// "references", "sources and notes", "参考文献". "sources of income" does not.
func isReferenceLabel(label string) bool {
	if referenceLabels[label] {
		return true
	}
	if len(label) > 90 || !firstWords[firstWord(label)] { // nearly every line of a report
		return false
	}
	if m := labelNote.FindStringSubmatch(label); m != nil && isReferenceLabel(m[1]) {
		return true
	}
	return !slices.ContainsFunc(labelJoin.Split(label, -1), func(p string) bool { return !referenceLabels[p] })
}
