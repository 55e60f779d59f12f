package citation

import (
	"regexp"
	"strings"
)

// spelled is what entities spell of markers and addresses, and the links of a vendor's program: &#91;1&#93;,
// https&#58;//example.org, [oai_citation:0‡example.org](https://example.org).
var spelled = regexp.MustCompile(`(?i)(?:&#0{0,4}91;|&#x0{0,4}5b;|&lbrack;|&lsqb;)(\^?[0-9][0-9,; –-]{0,40})(?:&#0{0,4}93;|&#x0{0,4}5d;|&rbrack;|&rsqb;)` +
	`|(https?)(?::|&#0{0,4}58;|&#x0{0,4}3a;|&colon;)(?:/|&#0{0,4}47;|&#x0{0,4}2f;|&sol;)(?:/|&#0{0,4}47;|&#x0{0,4}2f;|&sol;)` +
	`|\[oai_citation:[0-9]{1,4}‡[^\[\]\n]{0,200}\]\(([^()\s<>]{1,1000})\)`)

// plainForms writes in the usual way what is spelled otherwise. Code stays as it is.
func plainForms(text string) string {
	if !strings.Contains(text, "&") && !strings.Contains(text, "oai_citation") {
		return text
	}
	return outsideCode(text, spelled, func(m []string) string {
		switch {
		case m[1] != "":
			return "[" + m[1] + "]"
		case m[2] != "":
			return m[2] + "://"
		}
		return "<" + m[3] + ">"
	})
}

var (
	// hidden is a word with characters that show nothing; embedding turns the order of what follows.
	hidden    = regexp.MustCompile("[^ \\t\\n]*[\u00ad\u200b\u2060\ufeff][^ \\t\\n]*")
	embedding = regexp.MustCompile("[\u202a-\u202e\u2066-\u2069]+")
)

// unhide takes out what makes a text look other than it is: characters that turn the order of others, and those without
// width within addresses. Code stays as it is.
func unhide(text string) string {
	if embedding.MatchString(text) {
		text = outsideCode(text, embedding, func([]string) string { return "" })
	}
	if !strings.ContainsAny(text, "\u00ad\u200b\u2060\ufeff") {
		return text
	}
	return outsideCode(text, hidden, func(m []string) string {
		if shown := withoutHidden.Replace(m[0]); strings.Contains(shown, "://") || strings.Contains(shown, "www.") {
			return shown
		}
		return m[0]
	})
}

var withoutHidden = strings.NewReplacer("\u00ad", "", "\u200b", "", "\u2060", "", "\ufeff", "")

// outsideCode replaces what pattern finds outside code.
func outsideCode(text string, pattern *regexp.Regexp, replace func(groups []string) string) string {
	code := codeSpans(text)
	var b strings.Builder
	pos := 0
	for _, m := range pattern.FindAllStringSubmatchIndex(text, -1) {
		for len(code) > 0 && code[0].end <= m[0] {
			code = code[1:]
		}
		if len(code) > 0 && code[0].start < m[1] {
			continue
		}
		groups := make([]string, len(m)/2)
		for i := range groups {
			if m[2*i] >= 0 {
				groups[i] = text[m[2*i]:m[2*i+1]]
			}
		}
		b.WriteString(text[pos:m[0]] + replace(groups))
		pos = m[1]
	}
	return b.String() + text[pos:]
}
