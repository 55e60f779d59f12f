package planning

import (
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/extractive"
	"nightdesk/topicqueue"
)

// headingWords is how short a heading must be to take the one above it along.
const headingWords = 4

// title makes the title of a sub-topic of where a section stands. It is empty when the section is not about anything:
// an index, a list of changes, a page that is called Introduction. A short heading that names nothing of the topic takes the one above it along, unless its
// document is about the topic anyway.
func (w weights) title(n *node, core bool) string {
	document := extractive.Heading(n.document.title)
	if aboutNothing[folded(document)] {
		return ""
	}
	last := document
	for _, s := range n.path {
		if last = extractive.Heading(s); aboutNothing[folded(last)] || release.MatchString(last) {
			return ""
		}
	}
	parent := n.above()
	switch kind := sayNothing[folded(last)]; {
	case last == "" || kind == opening:
		last = parent
	case parent == "" || strings.Contains(last, parent) || strings.Contains(parent, last):
	case kind == part, !core && w.covered(last) == 0 && w.covered(parent) > 0 && len(strings.Fields(last)) <= headingWords:
		name, _, _ := strings.Cut(parent, " — ") // of a module, without what it is for
		last = name + ": " + last
	}
	if sayNothing[folded(last)] != "" { // a page that is called Introduction: nothing says of what
		return ""
	}
	return topicqueue.Clip(last, maxTitle)
}

// folded is a heading in the form of the lists below.
func folded(heading string) string { return strings.ToLower(strings.Trim(heading, " .:¶#")) }

// release matches a heading that is the name of a version.
var release = regexp.MustCompile(`(?i)^((release|version|changes in|what.s new in)\s+(.*\s)?v?\d.*|(\pL+\s+)?v?\d+(\.\d+)+)$`)

// odd reports a section that stands in a list of changes or of answers within its document.
func odd(path []string) bool {
	return slices.ContainsFunc(path, func(h string) bool { return changes.MatchString(h) })
}

// above is the nearest heading above a section that says something, else the document's title.
func (n *node) above() string {
	for i := len(n.path) - 2; i >= 0; i-- {
		if title := extractive.Heading(n.path[i]); title != "" && sayNothing[folded(title)] == "" {
			return title
		}
	}
	return extractive.Heading(n.document.title)
}

const (
	opening = "opening" // stands for what it opens
	part    = "part"    // needs the heading above it to say anything
)

// sayNothing are headings that every manual has many of.
var sayNothing = kinds(map[string]string{
	opening: `about|abstract|background|basics|concepts|definition|description|general|general information|
		introduction|name|overview|preface|summary|synopsis|what is it|
		einleitung|überblick|beschreibung|introducción|descripción|resumen|présentation|概述|简介|介绍|引言|摘要`,
	part: `advanced|advanced usage|arguments|attributes|availability|best practices|bugs|caveats|classes|common problems|
		compatibility|configuration|constants|detail|details|diagnostics|discussion|environment|errors|example|examples|exceptions|
		exit status|faq|features|files|functions|getting started|history|implementation|implementation notes|installation|
		limitations|methods|more|motivation|note|notes|objects|operators|options|other|outputs|parameters|performance|
		problems|properties|purpose|quick start|rationale|recipes|recommendations|reference|requirements|restrictions|
		results|return value|security|security considerations|setup|standards|syntax|technical detail|technical details|technical notes|tips|troubleshooting|
		tutorial|types|usage|warning|warnings|what's new|
		beispiele|hinweise|beispiel|ejemplos|notas|exemples|remarques|示例|例子|注意|说明|参数|用法`,
})

// aboutNothing are headings of parts that hold no statement on a topic.
var aboutNothing = lines(`acknowledgements|acknowledgments|author|authors|bibliography|change log|changelog|changes|
	colophon|contact|contents|contributors|copying|copyright|credits|feedback|further reading|glossary|index|legal notice|licence|license|
	links|navigation|reference documentation|references|related|release notes|see also|table of contents|
	inhaltsverzeichnis|literatur|siehe auch|índice|referencias|véase también|voir aussi|références|目录|参考文献|参见|索引`)

func kinds(words map[string]string) map[string]string {
	out := map[string]string{}
	for kind, list := range words {
		for word := range lines(list) {
			out[word] = kind
		}
	}
	return out
}

func lines(list string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.SplitSeq(list, "|") {
		out[strings.TrimSpace(word)] = true
	}
	return out
}
