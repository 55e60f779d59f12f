// Package reportingtest checks finished reports. It is for tests of this module, also end-to-end ones.
package reportingtest

import (
	"fmt"
	"regexp"
	"strings"

	"nightdesk/pipeline/citation"
)

// marker is a rendered citation in either style.
var marker = regexp.MustCompile(`\[\[((?:CIT-\d+-\d+|PLAN-\d+|\d+))\]\(#ref-[a-z0-9-]+\)\]`)

// framed are the sections that are not quoted, in the languages that have their own texts.
var framed = map[string]bool{"Gaps": true, "References": true, "未覆盖的内容": true, "参考文献": true}

// CheckVerbatim proves that an extractive report invents nothing: between the first heading of level two and the gaps or
// references, every stretch of text is followed by markers, and stands word for word (white space folded) in the text
// of at least one source that they cite. It returns one line for each violation, none for a sound report.
//
// markdown: a finished report, with anchors or numbers. sourceText returns the text of the source behind a citation id,
// in numbered style behind the number ("3"), where texts of several passages may be joined; "" for an unknown one.
func CheckVerbatim(markdown string, sourceText func(citationID string) string) []string {
	var violations []string
	body, quotes := false, 0
	for _, l := range strings.Split(markdown, "\n") {
		l = strings.TrimSpace(l)
		if heading, ok := strings.CutPrefix(l, "## "); ok {
			body = !framed[heading]
			continue
		}
		if !body || l == "" || strings.HasPrefix(l, "### ") || strings.HasPrefix(l, "#### ") {
			continue
		}
		l = strings.TrimPrefix(l, "- ") // a list item; a dash of the quote's own is escaped
		at := 0
		for at < len(l) {
			next := marker.FindStringIndex(l[at:])
			if next == nil {
				violations = append(violations, fmt.Sprintf("no citation: %q", l[at:]))
				break
			}
			text := fold(citation.Unescape(l[at : at+next[0]]))
			at += next[0]
			var ids []string
			for m := marker.FindStringSubmatchIndex(l[at:]); m != nil && strings.TrimSpace(l[at:at+m[0]]) == ""; m = marker.FindStringSubmatchIndex(l[at:]) {
				ids = append(ids, l[at+m[2]:at+m[3]])
				at += m[1]
			}
			quotes++
			if text == "" {
				violations = append(violations, fmt.Sprintf("citation %v without text: %q", ids, l))
				continue
			}
			found := false
			for _, id := range ids {
				found = found || strings.Contains(fold(sourceText(id)), text)
			}
			if !found {
				violations = append(violations, fmt.Sprintf("not in the text of %v: %q", ids, text))
			}
		}
	}
	if quotes == 0 {
		violations = append(violations, "the report quotes nothing")
	}
	return violations
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }
