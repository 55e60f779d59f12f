package citation

import (
	"regexp"
	"strings"

	"nightdesk/pipeline/markdown"
)

var (
	lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\uFFFD")
	hidden     = regexp.MustCompile("[\u00ad\u200b\u2060\ufeff" + markdown.Turning + "]")
	// hiddenTags enclose what no reader sees: programs, and calls and thoughts that a model leaked.
	hiddenTags = `(?:script|style|think(?:ing)?|reasoning|reflection|scratchpad|(?:[a-z]{1,16}:)?` +
		`(?:tool_?(?:calls?|use|results?|response|code)|function_?(?:calls?|results?|response)` +
		`|invoke|parameter))\b[^<>]*>`
	script = regexp.MustCompile(`(?is)<` + hiddenTags + `.*?</` + hiddenTags +
		`(?:\s*</` + hiddenTags + `)*|</?` + hiddenTags)
	htmlLink = regexp.MustCompile(`(?i)<a\s(?:[^<>]*\s)?href\s*=\s*["']?([^"'<>\s]+)["']?[^<>]*>([^<>\[\]]*)</a>`)
	inner    = regexp.MustCompile(`(?i)<a\s(?:[^<>]*\s)?href\s*=\s*["']?#[^<>]*>([^<>]*)</a>`) // leads to a reference
	// token is a citation that only the program of its vendor knows, or parts the turns of a conversation.
	token = regexp.MustCompile(`\x{e200}[^\x{e201}\n]{0,300}\x{e201}` +
		`|:contentReference\[oaicite:[0-9]{1,4}\](?:\{index=[0-9]{1,4}\})?|【[0-9]{1,3}:[0-9]{1,3}†[^】\n]{0,120}】` +
		`|<[|｜][^|｜<>\n]{1,40}[|｜]>|<(?:start|end)_of_turn>(?:model|user)?|\[/?INST\]` +
		`|\[cite_(?:start|end)\]|(?:file)?cite(?:turn[0-9]{1,3}[a-z]{1,12}[0-9]{1,3})+`)
)

// Normalize returns a text as Scan reads it: with line feeds, without characters that disguise others, scripts, and
// citations that only the program of a vendor knows, and with links of HTML as those of Markdown. Code is left alone.
func Normalize(s string) string {
	s = strings.ToValidUTF8(lineBreaks.Replace(s), "\uFFFD")
	var b strings.Builder
	change := func(s string) {
		s = script.ReplaceAllString(hidden.ReplaceAllString(s, ""), Gone)
		s = inner.ReplaceAllString(s, "$1")
		s = token.ReplaceAllString(htmlLink.ReplaceAllString(s, "[$2]($1)"), Gone)
		if strings.Contains(s, Gone) {
			s = tidy(s)
		}
		b.WriteString(s)
	}
	at := 0
	for _, c := range Code(s) {
		change(s[at:c[0]])
		b.WriteString(s[c[0]:c[1]])
		at = c[1]
	}
	change(s[at:])
	return b.String()
}
