package planning

import (
	"regexp"
	"strings"

	"nightdesk/pipeline/extractive"
	"nightdesk/pipeline/knowledge"
)

// headingWords is how short a heading must be to take the one above it along.
const headingWords = 4

// heading makes the title of a sub-topic of where a section stands. It is empty when the section is not about
// anything: an index, a list of changes.
func (w weights) heading(h knowledge.SectionHit) string {
	document := extractive.Title(h.Title)
	if aboutNothing[folded(document)] || release.MatchString(document) {
		return ""
	}
	last := document
	for _, s := range h.Section {
		if last = extractive.Title(s); aboutNothing[folded(last)] {
			return ""
		}
	}
	parent := above(h, document)
	switch kind := sayNothing[folded(last)]; {
	case last == "" || kind == opening:
		last = parent
	case parent == "" || strings.Contains(last, parent) || strings.Contains(parent, last):
	case kind == part, w.covered(last) == 0 && w.covered(parent) > 0 && len(strings.Fields(last)) <= headingWords:
		name, _, _ := strings.Cut(parent, " — ") // of a module, without what it is for
		last = name + ": " + last
	}
	return clip(last, maxTitle)
}

// folded is a heading in the form of the lists below.
func folded(heading string) string { return strings.ToLower(strings.Trim(heading, " .:¶#")) }

// release matches the title of release notes.
var release = regexp.MustCompile(`(?i)^(release|version|changes in|what.s new in)\s+(.*\s)?v?\d`)

// above is the nearest heading above a section that says something, else the document's title.
func above(h knowledge.SectionHit, document string) string {
	for i := len(h.Section) - 2; i >= 0; i-- {
		if title := extractive.Title(h.Section[i]); title != "" && sayNothing[folded(title)] == "" {
			return title
		}
	}
	return document
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
	colophon|contents|contributors|copying|copyright|credits|further reading|glossary|index|legal notice|licence|license|
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
