package answer

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
)

var thinkTag = regexp.MustCompile(`(?i)<(/?)(think|thinking|reasoning)>`)

// StripThinking removes a model's reasoning between <think>, <thinking> or <reasoning> tags from an answer, and trims
// white space. It removes blocks at the start of the text or of a line, and everything before a closing tag without
// an opening one. If an opening tag at the start is never closed, the result is empty. A text that begins with { or [
// is JSON and only trimmed; tags in the middle of a line belong to the text. Linear in the length of text.
func StripThinking(text string) string {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "<") {
		return text
	}
	var kept strings.Builder       // kept part of text[:copied]
	open := map[string]int{}       // tags that belong to the text and are not closed yet
	unclosed := map[string]bool{}  // names without a closing tag ahead
	at, copied, content := 0, 0, 0 // content: offset of the first non-space byte from copied on
	skip := func(to int) {
		at, copied = to, to
		content = len(text) - len(strings.TrimLeftFunc(text[to:], unicode.IsSpace))
	}
	for {
		if kept.Len() == 0 && content < len(text) && (text[content] == '{' || text[content] == '[') {
			return text[content:]
		}
		tag := thinkTag.FindStringSubmatchIndex(text[at:])
		if tag == nil {
			kept.WriteString(text[copied:])
			return strings.TrimSpace(kept.String())
		}
		start, end := at+tag[0], at+tag[1]
		closing, name := tag[2] != tag[3], strings.ToLower(text[at+tag[4]:at+tag[5]])
		before := strings.TrimRight(text[copied:start], " \t")
		first := kept.Len() == 0 && content >= start
		at = end
		switch {
		case start > 0 && text[start-1] == '`': // quoted
		case closing && open[name] > 0:
			open[name]--
		case closing: // never opened: some chat templates open it themselves
			kept.Reset()
			skip(end)
		case !first && !strings.HasSuffix(cmp.Or(before, kept.String()), "\n"), unclosed[name]:
			open[name]++
		default:
			length := closingTag(text[end:], name)
			switch {
			case length >= 0:
				if !first {
					kept.WriteString(before)
				}
				skip(end + length)
			case first:
				return ""
			default:
				unclosed[name] = true
			}
		}
	}
}

// closingTag returns the offset after the first closing tag of this name; -1 if there is none.
func closingTag(text, name string) int {
	for at := 0; ; {
		tag := thinkTag.FindStringSubmatchIndex(text[at:])
		if tag == nil {
			return -1
		}
		if tag[2] != tag[3] && strings.EqualFold(text[at+tag[4]:at+tag[5]], name) {
			return at + tag[1]
		}
		at += tag[1]
	}
}
