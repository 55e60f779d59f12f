// Package reportingtest checks finished reports. It is for tests of this module, also end-to-end ones.
package reportingtest

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"nightdesk/pipeline/citation"
)

// marker is a rendered citation in either style.
var marker = regexp.MustCompile(`\[\[((?:CIT-\d+-\d+|PLAN-\d+|\d+))\]\(#ref-[a-z0-9-]+\)\]`)

// framed are the sections that are not quoted, in the languages that have their own texts.
var framed = map[string]bool{"Gaps": true, "References": true, "未覆盖的内容": true, "参考文献": true}

// CheckVerbatim proves that an extractive report invents nothing: between the first heading of level two and the gaps
// or references, the paragraphs before each row of markers stand word for word (letters and digits, in order) in the
// text of at least one source that they cite. It returns one line for each violation, none for a sound report.
//
// markdown: a finished report, with anchors or numbers. sourceText returns the text of the source behind a citation id,
// in numbered style behind the number ("3"), where texts of several passages may be joined; "" for an unknown one.
func CheckVerbatim(markdown string, sourceText func(citationID string) string) []string {
	var violations []string
	body, quotes := false, 0
	var quote strings.Builder // since the last marker or heading
	flush := func() {
		if words(quote.String()) != "" {
			violations = append(violations, fmt.Sprintf("no citation: %q", quote.String()))
		}
		quote.Reset()
	}
	for _, l := range strings.Split(markdown, "\n") {
		if heading, ok := strings.CutPrefix(l, "## "); ok {
			flush()
			body = !framed[heading]
			continue
		}
		if strings.HasPrefix(l, "### ") {
			flush()
			continue
		}
		if !body {
			continue
		}
		for {
			next := marker.FindStringSubmatchIndex(l)
			if next == nil {
				quote.WriteString(l + "\n")
				break
			}
			quote.WriteString(l[:next[0]])
			ids := []string{l[next[2]:next[3]]}
			for l = l[next[1]:]; ; {
				more := marker.FindStringSubmatchIndex(l)
				if more == nil || strings.TrimSpace(l[:more[0]]) != "" {
					break
				}
				ids, l = append(ids, l[more[2]:more[3]]), l[more[1]:]
			}
			text := words(citation.Unescape(quote.String()))
			quote.Reset()
			quotes++
			found := false
			for _, id := range ids {
				found = found || text != "" && strings.Contains(words(sourceText(id)), text)
			}
			if !found {
				violations = append(violations, fmt.Sprintf("not in the text of %v: %q", ids, text))
			}
		}
	}
	flush()
	if quotes == 0 {
		violations = append(violations, "the report quotes nothing")
	}
	return violations
}

// words returns the letters and digits of a text, one space between its words.
func words(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}
