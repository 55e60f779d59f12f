package citation

import (
	"regexp"
	"strings"
)

// toolTag is a tag with which models call tools. They leak it into texts when a call is cut short or badly made.
// So do their thoughts, and the tokens that stand between the parts of an answer.
var toolTag = regexp.MustCompile(`(?i)<(/?)((?:[a-z][a-z0-9]{0,15}:)?(?:parameters?|functions?|function\\?_calls?|function\\?_results?|tool\\?_calls?|tool\\?_use|tool\\?_uses|tool\\?_results?|tool\\?_response|tool\\?_input|tool\\?_code|tool\\?_outputs?|invoke|think|thinking))(?:[ \t=][^<>\n]{0,400})?>` +
	`|<\|(?:tool[a-z_▁]{0,30}|python_tag|function_call)\|>|<｜tool[^｜<>\n]{0,40}｜>|\[/?TOOL_CALLS?\]|\[TOOL_RESULTS\]` +
	`|<\|channel\|>[ \t]*(?:commentary|analysis)[^<\n]{0,200}|` + token)

// token stands between the parts of an answer, or cites what only the program of its vendor knows. It encloses nothing.
const token = `\x{e200}[^\x{e201}\n]{0,300}\x{e201}|:contentReference\[oaicite:[0-9]{1,4}\](?:\{index=[0-9]{1,4}\})?|【oaicite:[0-9]{1,4}】|【[0-9]{1,3}:[0-9]{1,3}†[^】\n]{0,120}】|\[cite_(?:start|end)\]|<\|(?:start|im_start)\|>(?:assistant|user|system|tool)?|<\|channel\|>[ \t]*final|<\|(?:message|call|end|return|im_end|eot_id|eom_id|end_of_text|endoftext)\|>`

var onlyToken = regexp.MustCompile(`(?i)^(?:` + token + `)$`)

// headingStart is where the report goes on behind a call that nobody closed.
var headingStart = regexp.MustCompile(`(?m)^(?: {0,3}#{1,6}[ \t]+\S|(?:\*\*|__)?(?i:sources|references|参考文献)(?:\*\*|__)?[:：]?[ \t]*$)`)

// cutToolMarkup takes leaked tool calls out of a text: a call with its end as a whole, one without its end as far as the
// next heading, or to the end of the text. Code stays as it is.
func cutToolMarkup(text string) string {
	if !strings.ContainsAny(text, "<[【\ue200") || !toolTag.MatchString(text) {
		return text
	}
	code := codeSpans(text)
	var out strings.Builder
	pos := 0
	unclosed := map[string]bool{} // names whose end does not come any more
	lower := lowerASCII(text)
	for _, m := range toolTag.FindAllStringSubmatchIndex(text, -1) {
		start, end := m[0], m[1]
		for len(code) > 0 && code[0].end <= start {
			code = code[1:]
		}
		if start < pos || len(code) > 0 && code[0].start <= start {
			continue
		}
		isClose := m[2] >= 0 && m[3] > m[2] || strings.HasPrefix(text[start:], "[/")
		isEmpty := strings.HasSuffix(text[start:end], "/>") || onlyToken.MatchString(text[start:end])
		if !isClose && !isEmpty {
			end = callEnd(text, lower, m, unclosed)
		}
		out.WriteString(strings.TrimRight(text[pos:start], " \t"))
		pos = end
		kept := out.String()
		switch rest := text[pos:]; {
		case rest == "" || strings.TrimSpace(rest) == "":
		case kept == "" || strings.HasSuffix(kept, "\n"): // the call had lines of its own
			pos += len(rest) - len(strings.TrimLeft(rest, "\n"))
			if kept != "" && !strings.HasSuffix(kept, "\n\n") && (len(rest) > 1 && strings.HasPrefix(rest, "\n\n") || strings.HasPrefix(rest, "#")) {
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

// callEnd returns where the call ends that the tag m opens.
func callEnd(text, lower string, m []int, unclosed map[string]bool) int {
	from := m[1]
	if m[4] >= 0 {
		closing := "</" + lower[m[4]:m[5]] + ">"
		if !unclosed[closing] {
			if i := strings.Index(lower[from:], closing); i >= 0 {
				return from + i + len(closing)
			}
			unclosed[closing] = true
		}
	} else {
		tag := lower[m[0]:m[1]]
		opening := strings.Trim(tag, "<|>[]｜")
		closings := []string{"<|/" + opening + "|>", "[/" + opening + "]", strings.Replace(tag, "begin", "end", 1), strings.Replace(tag, "_call", "_call_end", 1)}
		inline := strings.Contains(tag, "channel") || strings.Contains(tag, "python_tag")
		if inline {
			closings = []string{"<|call|>", "<|end|>", "<|eom_id|>", "<|eot_id|>"}
		}
		first := -1
		for _, closing := range closings {
			if unclosed[closing] || closing == tag {
				continue
			}
			if i := strings.Index(lower[from:], closing); i < 0 {
				unclosed[closing] = true
			} else if end := from + i + len(closing); first < 0 || end < first {
				first = end
			}
		}
		switch {
		case first >= 0:
			return first
		case inline || tag[0] == '[': // a call in one paragraph
			if blank := strings.Index(text[from:], "\n\n"); blank >= 0 {
				return from + blank
			}
		}
	}
	if h := headingStart.FindStringIndex(text[from:]); h != nil {
		return from + h[0]
	}
	return len(text)
}
