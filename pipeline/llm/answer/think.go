package answer

import (
	"regexp"
	"strings"
)

var (
	thinkTag  = regexp.MustCompile("(?i)(`?)<(/?)(?:think|thinking|reasoning)>")
	thinkLine = regexp.MustCompile(`(?ims)^[ \t]*<(?:think|thinking|reasoning)>.*?</(?:think|thinking|reasoning)>`)
)

// StripThinking removes a model's reasoning between <think>, <thinking> or <reasoning> tags from an answer, and trims
// white space. It removes blocks at the start of the text or of a line, and everything before a closing tag without
// an opening one: some chat templates open it themselves. If an opening tag at the start is never closed, the result is
// empty. A text that begins with { or [ is JSON and only trimmed; tags in the middle of a line and in backticks belong
// to the text. Linear in the length of text.
func StripThinking(text string) string {
	text = strings.TrimSpace(text)
	for {
		if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") || !strings.Contains(text, "<") {
			return text
		}
		if tag := thinkTag.FindStringSubmatch(text); tag == nil || tag[1]+tag[2] != "" || !strings.HasPrefix(text, tag[0]) {
			break
		}
		block := thinkLine.FindStringIndex(text)
		if block == nil || block[0] > 0 {
			return ""
		}
		text = strings.TrimSpace(text[block[1]:])
	}
	text = thinkLine.ReplaceAllString(text, "")
	open, content := 0, 0
	for _, tag := range thinkTag.FindAllStringSubmatchIndex(text, -1) {
		switch quoted, closes := tag[2] < tag[3], tag[4] < tag[5]; {
		case quoted:
		case !closes:
			open++
		case open > 0:
			open--
		default:
			content = tag[1]
		}
	}
	return strings.TrimSpace(text[content:])
}
