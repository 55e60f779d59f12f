package reporting

import (
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
)

var (
	thematic    = regexp.MustCompile(`^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$`)
	boldLine    = regexp.MustCompile(`^\*\*([^*]{1,120})\*\*:?$`)
	htmlComment = regexp.MustCompile(`(?s)<!--.*?(?:-->|$)`)
	// the beginning of a refusal to do the task
	refusal = regexp.MustCompile(`(?i)^(?:i['’]?m sorry|i am sorry|sorry,|i apologi[sz]e|i can(?:['’]t|not) (?:help|assist|write|provide|fulfil|comply|do)|i['’]?m unable|i am unable|as an ai\b|as a language model|unfortunately, i (?:can|am)|很抱歉|抱歉|对不起|我无法|我不能|作为(?:一个)?(?:ai|人工智能|语言模型))`)
	// "Here is the section:", "Sure!": an introduction by the model
	preamble = regexp.MustCompile(`(?i)^(?:sure|certainly|of course|okay|here(?:['’]s| is| are)|below is|以下是|好的)\b?[^\n]{0,160}[:：!！]$`)
	// headings of lists of sources, which are removed, because a model's references are invented
	sourceHeadings = []string{"references", "sources", "bibliography", "citations", "works cited", "reference list", "参考文献", "参考资料", "引用", "来源", "literatur", "quellen", "bibliographie", "referencias"}
)

// maxHeadingLevel is the deepest heading level: report, section, subsection, and one below.
const maxHeadingLevel = 4

// cleanSection converts a model's text to the body of a section. Headings get level 3 or deeper and clean titles, and
// code blocks are closed. It removes the section's own title, a list of references, and introductions by the model. It
// returns false if the text is not a section: empty, a refusal, or data.
func cleanSection(text, title string) (string, bool) {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r", "\n"))
	if first, rest, more := strings.Cut(text, "\n"); more && preamble.MatchString(strings.TrimSpace(first)) {
		text = strings.TrimSpace(rest)
	}
	if text == "" || refusal.MatchString(text) || isData(text) {
		return "", false
	}
	text = citation.CloseCode(withoutComments(text))
	var out []string
	shift := headingShift(text, title)
	started := false // some text or heading was kept
	for _, l := range markdownLines(text) {
		if l.code {
			out, started = append(out, l.text), true
			continue
		}
		level, heading := l.level, CleanTitle(l.heading)
		if m := boldLine.FindStringSubmatch(strings.TrimSpace(l.text)); level == 0 && m != nil {
			if bold := CleanTitle(m[1]); !started && sameTitle(bold, title) {
				continue
			} else if isSourceHeading(bold) {
				level, heading = 1, bold
			}
		}
		switch {
		case level == 0 && thematic.MatchString(l.text):
		case level == 0:
			out = append(out, strings.TrimRight(l.text, " \t"))
			started = started || strings.TrimSpace(l.text) != ""
		case isSourceHeading(heading):
			return dropEmptyHeadings(strings.Join(out, "\n")), true
		case heading == "" || sameTitle(heading, title):
		default:
			out = append(out, "", strings.Repeat("#", min(max(level+shift, 3), maxHeadingLevel))+" "+citation.Escape(heading), "")
			started = true
		}
	}
	return dropEmptyHeadings(strings.Join(out, "\n")), true
}

func isSourceHeading(heading string) bool {
	return slices.Contains(sourceHeadings, strings.ToLower(heading))
}

// withoutComments removes HTML comments outside code. An unclosed comment would hide the text after it.
func withoutComments(text string) string {
	var b strings.Builder
	at := 0
	for _, code := range citation.Code(text) {
		b.WriteString(htmlComment.ReplaceAllString(text[at:code[0]], ""))
		b.WriteString(text[code[0]:code[1]])
		at = code[1]
	}
	return b.String() + htmlComment.ReplaceAllString(text[at:], "")
}

// isData reports whether the text is JSON or XML rather than prose.
func isData(text string) bool {
	trimmed := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(text, "```json"), "```"))
	return strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, `["`) || strings.HasPrefix(trimmed, "[{") ||
		strings.HasPrefix(trimmed, "<?xml") || strings.HasPrefix(strings.ToLower(trimmed), "<!doctype")
}

// headingShift returns the difference that moves the highest heading of a section to level 3.
func headingShift(text, title string) int {
	highest := 7
	for _, l := range markdownLines(text) {
		if l.level > 0 && CleanTitle(l.heading) != "" && !sameTitle(l.heading, title) {
			highest = min(highest, l.level)
		}
	}
	if highest == 7 {
		return 0
	}
	return 3 - highest
}

// dropEmptyHeadings removes headings without text below them, and repeated blank lines.
func dropEmptyHeadings(text string) string {
	lines := markdownLines(text)
	var kept []line
	for i, l := range lines {
		if l.level > 0 {
			next := slices.IndexFunc(lines[i+1:], func(n line) bool { return n.code || strings.TrimSpace(n.text) != "" })
			if next < 0 || lines[i+1+next].level > 0 && lines[i+1+next].level <= l.level {
				continue
			}
		}
		blank := !l.code && strings.TrimSpace(l.text) == ""
		if blank && (len(kept) == 0 || !kept[len(kept)-1].code && strings.TrimSpace(kept[len(kept)-1].text) == "") {
			continue
		}
		kept = append(kept, l)
	}
	var b strings.Builder
	for i, l := range kept {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.text)
	}
	return strings.Trim(b.String(), "\n")
}

// tidy removes headings that became empty when markers were removed, and surrounding space.
func tidy(text string) string { return strings.TrimSpace(dropEmptyHeadings(text)) }

// withoutHeadings removes the heading lines of a text.
func withoutHeadings(text string) string {
	var out []string
	for _, l := range markdownLines(text) {
		if l.level == 0 {
			out = append(out, l.text)
		}
	}
	return strings.Join(out, "\n")
}
