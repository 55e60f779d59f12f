package bundle

import (
	"regexp"
	"strings"
)

// citationLink finds the markers of citations as reports have them: [[CIT-1-01](#ref-cit-1-01)].
var citationLink = regexp.MustCompile(` ?\[\[[^\]\[]*\]\(#ref-[^)]*\)\]`)

// Body returns what a report says, without its title, its head, its references and its markers, which mean something in
// this report only.
func Body(report string) string {
	if title, rest, ok := strings.Cut(report, "\n"); ok && strings.HasPrefix(title, "# ") {
		report = strings.TrimLeft(rest, "\n")
	}
	for strings.HasPrefix(report, ">") { // the head is a quotation
		_, report, _ = strings.Cut(report, "\n")
	}
	if at := strings.LastIndex("\n"+report, "\n## "); at >= 0 {
		report = report[:max(0, at-1)]
	}
	return strings.TrimSpace(citationLink.ReplaceAllString(report, ""))
}
