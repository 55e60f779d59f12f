package citation

import (
	"regexp"
	"strings"
)

// toolFence begins a block of code that a model wrote to be run, and no example.
var toolFence = regexp.MustCompile("(?m)^[ \t>]*(?:`{3,}|~{3,})[ ]*" +
	`tool_(?:code|calls?|outputs?|response|results?)[ \t]*$`)

// cutToolFences takes blocks of code out that are calls of tools: a closed one as a whole, one without its end as far
// as the heading that follows the last such call.
func cutToolFences(text string) string {
	if !strings.Contains(text, "tool_") {
		return text
	}
	var out strings.Builder
	pos := 0
	for _, c := range codeSpans(text) {
		calls := toolFence.FindAllStringIndex(text[c.start:c.end], -1)
		if len(calls) == 0 || calls[0][0] > 0 {
			continue
		}
		end := c.end
		if openFence(text[c.start:end]) != "" {
			last := c.start + calls[len(calls)-1][0]
			if h := headingStart.FindStringIndex(text[last:end]); h != nil {
				end = last + h[0]
			}
		}
		out.WriteString(text[pos:c.start])
		pos = len(text) - len(strings.TrimLeft(text[end:], "\n")) // one blank line between paragraphs is enough
	}
	return out.String() + text[pos:]
}
