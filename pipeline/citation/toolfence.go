package citation

import (
	"regexp"
	"strings"
)

// toolFence begins a block of code that a model wrote to be run, and no example.
var toolFence = regexp.MustCompile("^[ \t>]*(?:`{3,}|~{3,})[ " +
	"]*tool_(?:code|calls?|outputs?|response|results?)[ \t]*\n?$")

// cutToolFences takes blocks of code out that are calls of tools: a closed one as a whole, one without its end as far
// as the next heading.
func cutToolFences(text string) string {
	if !strings.Contains(text, "tool_") {
		return text
	}
	var out strings.Builder
	lines := strings.SplitAfter(text, "\n")
	open := map[string]bool{} // runs that nothing closes any more
	for i := 0; i < len(lines); {
		run := fenceRun(strings.TrimLeft(lines[i], " \t>"))
		if run == "" {
			out.WriteString(lines[i])
			i++
			continue
		}
		end := len(lines)
		if !open[run] {
			var closed bool
			end, closed = fenceEnd(lines, i+1, run)
			open[run] = !closed
		}
		if !toolFence.MatchString(lines[i]) {
			out.WriteString(strings.Join(lines[i:end], ""))
			i = end
			continue
		}
		for n := i + 1; open[run] && n < end; n++ {
			if headingStart.MatchString(lines[n]) {
				end = n
			}
		}
		for i = end; i < len(lines) && lines[i] == "\n"; i++ { // one blank line between paragraphs is enough
		}
	}
	return out.String()
}

// fenceEnd returns the line behind the one that closes a block of code, from a line within it on.
func fenceEnd(lines []string, i int, run string) (end int, closed bool) {
	for ; i < len(lines); i++ {
		body := strings.TrimLeft(lines[i], " \t>")
		last := fenceRun(body)
		if len(last) >= len(run) && last[0] == run[0] && strings.TrimSpace(body[len(last):]) == "" {
			return i + 1, true
		}
	}
	return i, false
}
