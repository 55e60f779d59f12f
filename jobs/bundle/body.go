package bundle

import (
	"regexp"
	"strings"
)

// citationLink finds the markers of citations as reports have them: [[CIT-1-01](#ref-cit-1-01)].
var citationLink = regexp.MustCompile(` ?\[\[([^\]\[]*)\]\(#ref-[^)]*\)\]`)

// Body returns what a report says, without its title, its head, its references and its markers, which mean something in
// this report only.
func Body(report string) string {
	_, body, _ := split(report)
	return strings.TrimSpace(citationLink.ReplaceAllString(body, ""))
}

// split returns the parts of a report, each empty when it has none: the line of the title; what it says, with its
// markers; the references with their heading. The head belongs to no part.
func split(report string) (title, body, references string) {
	if first, rest, ok := strings.Cut(report, "\n"); ok && strings.HasPrefix(first, "# ") {
		title, report = first, strings.TrimLeft(rest, "\n")
	}
	for strings.HasPrefix(report, ">") { // the head is a quotation
		_, report, _ = strings.Cut(report, "\n")
	}
	if at := strings.LastIndex("\n"+report, "\n## "); at >= 0 {
		report, references = report[:max(0, at-1)], report[at:]
	}
	return title, strings.TrimSpace(report), strings.TrimSpace(references)
}
