package bundle

import (
	"regexp"
	"strings"
)

// citationLink matches citation markers in reports: [[CIT-1-01](#ref-cit-1-01)].
var citationLink = regexp.MustCompile(` ?\[\[([^\]\[]*)\]\(#ref-[^)]*\)\]`)

// Body returns the text of a report without its title, head, references and citation markers, which have a meaning only
// in that report.
func Body(report string) string {
	_, body, _ := split(report)
	return strings.TrimSpace(citationLink.ReplaceAllString(body, ""))
}

// split returns the parts of a report: the title line, the text with its citation markers, and the references with
// their heading. Missing parts are empty. The head is in no part.
func split(report string) (title, body, references string) {
	if first, rest, ok := strings.Cut(report, "\n"); ok && strings.HasPrefix(first, "# ") {
		title, report = first, strings.TrimLeft(rest, "\n")
	}
	for strings.HasPrefix(report, ">") { // the head is a block quote
		_, report, _ = strings.Cut(report, "\n")
	}
	if at := strings.LastIndex("\n"+report, "\n## "); at >= 0 {
		report, references = report[:max(0, at-1)], report[at:]
	}
	return title, strings.TrimSpace(report), strings.TrimSpace(references)
}
