package prose

import (
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/citation/markup"
	"nightdesk/prompts"
)

var (
	thematic    = regexp.MustCompile(`^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$`)
	boldLine    = regexp.MustCompile(`^\*\*([^*]{1,120})\*\*:?$`)
	htmlComment = regexp.MustCompile(`(?s)<!--.*?(?:-->|$)`)
)

// maxHeadingLevel is the deepest heading level: report, section, subsection, and one below.
const maxHeadingLevel = 4

// CleanSection converts a model's text to the body of a section. Headings get level 3 or deeper and clean titles, and
// code blocks are closed. It removes the section's own title, a list of references, because a model's references are
// invented, and introductions by the model. It returns false if the text is not a section: empty, a refusal, or data.
func CleanSection(text, title string) (string, bool) {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r", "\n"))
	if first, rest, more := strings.Cut(text, "\n"); more && prompts.Introduces(strings.TrimSpace(first)) {
		text = strings.TrimSpace(rest)
	}
	if text == "" || prompts.Refuses(text) || isData(text) {
		return "", false
	}
	text = markup.CloseCode(withoutComments(text))
	var out []string
	shift := headingShift(text, title)
	started := false // some text or heading was kept
	for _, l := range Lines(text) {
		heading := CleanTitle(l.Heading)
		if m := boldLine.FindStringSubmatch(strings.TrimSpace(l.text)); m != nil && l.Level == 0 && !l.code {
			heading = CleanTitle(m[1])
			if !started && SameTitle(heading, title) {
				continue
			}
		}
		switch {
		case l.code:
			out, started = append(out, l.text), true
		case prompts.HeadsSources(heading):
			return dropEmptyHeadings(strings.Join(out, "\n")), true
		case l.Level == 0 && thematic.MatchString(l.text):
		case l.Level == 0:
			out = append(out, strings.TrimRight(l.text, " \t"))
			started = started || strings.TrimSpace(l.text) != ""
		case heading != "" && !SameTitle(heading, title):
			marks := strings.Repeat("#", min(max(l.Level+shift, 3), maxHeadingLevel))
			out, started = append(out, "", marks+" "+markup.Escape(heading), ""), true
		}
	}
	return dropEmptyHeadings(strings.Join(out, "\n")), true
}

// withoutComments removes HTML comments outside code. An unclosed comment would hide the text after it.
func withoutComments(text string) string {
	var b strings.Builder
	at := 0
	for _, code := range markup.Code(text) {
		b.WriteString(htmlComment.ReplaceAllString(text[at:code[0]], ""))
		b.WriteString(text[code[0]:code[1]])
		at = code[1]
	}
	return b.String() + htmlComment.ReplaceAllString(text[at:], "")
}

// isData reports whether the text is JSON or XML rather than prose.
func isData(text string) bool {
	text = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(text, "```json"), "```")))
	begins := func(mark string) bool { return strings.HasPrefix(text, mark) }
	return slices.ContainsFunc([]string{"{", `["`, "[{", "<?xml", "<!doctype"}, begins)
}

// headingShift returns the difference that moves the highest heading of a section to level 3.
func headingShift(text, title string) int {
	highest := 7
	for _, l := range Lines(text) {
		if l.Level > 0 && CleanTitle(l.Heading) != "" && !SameTitle(l.Heading, title) {
			highest = min(highest, l.Level)
		}
	}
	if highest == 7 {
		return 0
	}
	return 3 - highest
}

// dropEmptyHeadings removes headings without text below them, and repeated blank lines.
func dropEmptyHeadings(text string) string {
	lines := Lines(text)
	var kept []Line
	for i, l := range lines {
		if l.Level > 0 {
			next := slices.IndexFunc(lines[i+1:], func(n Line) bool { return !n.blank() })
			if next < 0 || lines[i+1+next].Level > 0 && lines[i+1+next].Level <= l.Level {
				continue
			}
		}
		if l.blank() && (len(kept) == 0 || kept[len(kept)-1].blank()) {
			continue
		}
		kept = append(kept, l)
	}
	return joined(kept)
}

// Tidy removes headings that became empty when markers were removed, and surrounding space.
func Tidy(text string) string { return strings.TrimSpace(dropEmptyHeadings(text)) }

// WithoutHeadings removes the heading lines of a text.
func WithoutHeadings(text string) string {
	return joined(slices.DeleteFunc(Lines(text), func(l Line) bool { return l.Level > 0 }))
}

// joined returns lines as text, without empty lines around it.
func joined(lines []Line) string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.text
	}
	return strings.Trim(strings.Join(texts, "\n"), "\n")
}
