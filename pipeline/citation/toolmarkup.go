package citation

import (
	"regexp"
	"slices"
	"strings"
)

// toolTag is a tag with which models call tools. They leak it into texts when a call is cut short or badly made.
// So do their thoughts, and the tokens that stand between the parts of an answer.
var toolTag = form{starts: []string{"<", "[tool_", "[/tool_", "[cite_", "[inst]", "[/inst]", ":contentReference[",
	"citeturn", "filecite", "【", "\ue200"}, limit: 2000,
	ends: map[string]string{"\ue200": "\ue201"},
	pattern: regexp.MustCompile(`^(?i:<(/?)((?:[a-z][a-z0-9]{0,15}:)?(?:parameters?|functions?|function\\?_calls?` +
		`|function\\?_results?|function\\?_response|tool(?:\\?_)?calls?|tool\\?_use|tool\\?_uses|tool\\?_results?` +
		`|tool\\?_response|tool\\?_input|tool\\?_code|tool\\?_outputs?|arg\\?_key|arg\\?_value|invoke|think|thinking` +
		`|reasoning|reflection|scratchpad)|grok:render)(?:[ \t=][^<>\n]{0,400})?>` +
		`|(` + callEnds + `)|<\|(?:tool[a-z_▁]{0,30}|python_tag|function_call|start_action)\|>|<｜tool[^｜<>\n]{0,40}｜>` +
		`|\[/?TOOL_CALLS?\]|\[TOOL_RESULTS\]` +
		`|<\|channel\|>[ \t]{0,20}(?:commentary|analysis)[^<\n]{0,200}|(` + token + `))`)}

// callEnds close a call that began elsewhere, or nowhere.
const callEnds = `<\|tool[a-z_▁]{0,30}[_▁]end\|>|<｜tool[^｜<>\n]{0,40}end｜>`

// token stands between the parts of an answer, or cites what only the program of its vendor knows. It encloses nothing.
const token = `\x{e200}[^\x{e201}\n]{0,300}\x{e201}` +
	`|:contentReference\[oaicite:[0-9]{1,4}\](?:\{index=[0-9]{1,4}\})?|【oaicite:[0-9]{1,4}】` +
	`|【[0-9]{1,3}:[0-9]{1,3}†[^】\n]{0,120}】|\[cite_(?:start|end)\]` +
	`|(?:file)?cite(?:turn[0-9]{1,3}[a-z]{1,12}[0-9]{1,3})+|<\|(?:start|im_start)\|>(?:assistant|user|system|tool)?` +
	`|<\|start_header_id\|>[a-z]{0,12}<\|end_header_id\|>|<\|channel\|>[ \t]{0,20}final|<\|[a-z][a-z_]{1,40}\|>` +
	`|<｜[^｜<>\n]{1,40}｜>` +
	`|<start_of_turn>(?:model|user)?|<end_of_turn>|\[/?INST\]`

// headingStart is where the report goes on behind a call that nobody closed.
var headingStart = regexp.MustCompile(`(?m)^(?: {0,3}#{1,6}[ \t]+\S|(?:\*\*|__)?(?i:sources|references|参考文献)(?:\*\*` +
	`|__)?[:：]?[ \t]*$)`)

// cutToolMarkup takes leaked tool calls out of a text: a call with its end as a whole, one without its end as far as
// the next heading, or to the end of the text. Code stays as it is if sparesCode.
func cutToolMarkup(text string, sparesCode bool) string {
	text = cutToolFences(text)
	var code spans
	var out strings.Builder
	pos := 0
	var lower string // the text, when needed
	var ends places
	for m := range toolTag.in(text) {
		start, end := m[0], m[1]
		if lower == "" {
			lower = lowerASCII(text)
			ends = placesOf(callToken, lower)
			if sparesCode {
				code = codeSpans(text)
			}
		}
		if _, inCode := code.at(start); inCode || start < pos {
			continue
		}
		isClose := m[2] >= 0 && m[3] > m[2] || strings.HasPrefix(text[start:], "[/")
		isEmpty := strings.HasSuffix(text[start:end], "/>") || m[6] >= 0 || m[8] >= 0
		if !isClose && !isEmpty {
			end = ends.end(lower, m)
		}
		out.WriteString(strings.TrimRight(text[pos:start], " \t"))
		pos = end
		kept := out.String()
		switch rest := text[pos:]; {
		case rest == "" || strings.TrimSpace(rest) == "":
		case kept == "" || strings.HasSuffix(kept, "\n"): // the call had lines of its own
			pos += len(rest) - len(strings.TrimLeft(rest, "\n"))
			parted := strings.HasPrefix(rest, "\n\n") || strings.HasPrefix(rest, "#")
			if kept != "" && !strings.HasSuffix(kept, "\n\n") && parted {
				out.WriteByte('\n')
			}
		case !strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, "\n"):
			if strings.HasPrefix(rest, "#") {
				out.WriteString("\n\n")
			} else if !strings.ContainsAny(rest[:1], ".,;:!?)") {
				out.WriteByte(' ')
			}
		}
	}
	return out.String() + text[pos:]
}

// places has the places of each of some parts of a text, in order.
type places map[string][]int

// callToken is what may end a call.
var callToken = regexp.MustCompile(`(?:</|<\||<｜|\[/|\[tool)[^<>\[\]]*[>\]]`)

// placesOf finds the matches of a pattern.
func placesOf(pattern *regexp.Regexp, text string) places {
	found := places{}
	for _, m := range pattern.FindAllStringIndex(text, -1) {
		part := text[m[0]:m[1]]
		found[part] = append(found[part], m[0])
	}
	return found
}

// next returns the first place of a part from one on, and -1 where there is none.
func (p places) next(part string, from int) int {
	at, _ := slices.BinarySearch(p[part], from)
	if at == len(p[part]) {
		return -1
	}
	return p[part][at]
}

// end returns where the call ends that the tag m opens, in a text of which this is the lower case.
func (p places) end(lower string, m []int) int {
	tag, from := lower[m[0]:m[1]], m[1]
	inline := strings.Contains(tag, "channel") || strings.Contains(tag, "python_tag")
	named := m[4] >= 0
	var closings []string
	switch {
	case named:
		closings = []string{"</" + lower[m[4]:m[5]] + ">"}
	case inline:
		closings = []string{"<|call|>", "<|end|>", "<|eom_id|>", "<|eot_id|>"}
	default:
		opening := strings.Trim(tag, "<|>[]｜")
		closings = []string{"<|/" + opening + "|>", "[/" + opening + "]", strings.Replace(tag, "begin", "end", 1),
			strings.Replace(tag, "start", "end", 1), strings.Replace(tag, "_call", "_call_end", 1)}
	}
	end := -1
	for _, closing := range closings {
		if at := p.next(closing, from); closing != tag && at >= 0 && (end < 0 || at+len(closing) < end) {
			end = at + len(closing)
		}
	}
	if end >= 0 {
		return end
	}
	if !named && (inline || tag[0] == '[') { // a call in one paragraph
		if blank := strings.Index(lower[from:], "\n\n"); blank >= 0 {
			return from + blank
		}
	}
	if h := headingStart.FindStringIndex(lower[from:]); h != nil {
		return from + h[0]
	}
	return len(lower)
}

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
