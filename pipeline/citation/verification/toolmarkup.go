package verification

import (
	"regexp"
	"strings"

	"nightdesk/pipeline/citation/markup"
)

// toolTag is a tag with which models call tools, or that encloses their thoughts, or a token. Models leak them into
// texts.
var toolTag = regexp.MustCompile(`(?i)<(/?)((?:[a-z][a-z0-9]{0,15}:)?(?:tool_?calls?` +
	`|tool_(?:use|results?|response|code)|function(?:_calls?|_results?|_response)?|invoke|parameter` +
	`|think|thinking|reasoning|reflection|scratchpad))(?:[ \t=][^<>\n]{0,400})?>|` + token)

// token stands between the parts of an answer, or cites what only the program of its vendor knows. It encloses nothing.
const token = `\x{e200}[^\x{e201}\n]{0,300}\x{e201}` +
	`|:contentReference\[oaicite:[0-9]{1,4}\](?:\{index=[0-9]{1,4}\})?` +
	`|【[0-9]{1,3}:[0-9]{1,3}†[^】\n]{0,120}】|\[cite_(?:start|end)\]` +
	`|(?:file)?cite(?:turn[0-9]{1,3}[a-z]{1,12}[0-9]{1,3})+` +
	`|<[|｜][^|｜<>\n]{1,40}[|｜]>|<(?:start|end)_of_turn>(?:model|user)?|\[/?INST\]`

// headingStart is where the report goes on behind a call that is not closed.
var headingStart = regexp.MustCompile(`(?m)^ {0,3}#{1,6}[ \t]+\S`)

// cutToolMarkup removes leaked tool calls: a closed one as a whole, one without its end up to the next heading, or to
// the end of the text. Code is not changed.
func cutToolMarkup(text string) string {
	tags := toolTag.FindAllStringSubmatchIndex(text, -1)
	if len(tags) == 0 {
		return text
	}
	lower := markup.LowerASCII(text)
	var out strings.Builder
	code, unclosed, pos := markup.Code(text), map[string]bool{}, 0
	for _, m := range tags {
		if code.Has(m[0]) || m[0] < pos {
			continue
		}
		out.WriteString(strings.TrimRight(text[pos:m[0]], " \t"))
		pos = m[1]
		if opens := m[2] >= 0 && m[2] == m[3] && !strings.HasSuffix(text[:pos], "/>"); opens {
			pos = callEnd(lower, pos, lower[m[4]:m[5]], unclosed)
		}
		switch rest := text[pos:]; {
		case out.Len() == 0 || strings.HasSuffix(text[:m[0]], "\n"): // the call had lines of its own
			pos = len(text) - len(strings.TrimLeft(rest, "\n"))
		case rest != "" && !strings.ContainsAny(rest[:1], " \n.,;:!?)"):
			out.WriteByte(' ')
		}
	}
	return out.String() + text[pos:]
}

// callEnd returns where the call with this name ends whose opening tag ends at pos. unclosed has the names without
// another closing tag.
func callEnd(lower string, pos int, name string, unclosed map[string]bool) int {
	if closing := "</" + name + ">"; !unclosed[name] {
		if at := strings.Index(lower[pos:], closing); at >= 0 {
			return pos + at + len(closing)
		}
		unclosed[name] = true
	}
	if h := headingStart.FindStringIndex(lower[pos:]); h != nil {
		return pos + h[0]
	}
	return len(lower)
}
