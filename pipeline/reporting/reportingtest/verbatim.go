// Package reportingtest checks finished reports. It is for tests of this module, including end-to-end tests.
package reportingtest

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"nightdesk/pipeline/markdown"
)

// marker matches a rendered citation in either style.
var marker = regexp.MustCompile(`\[\[((?:CIT-\d+-\d+|PLAN-\d+|\d+))\]\(#ref-[a-z0-9-]+\)\]`)

// framed holds the titles of sections without quotes, in all supported languages.
var framed = map[string]bool{"Gaps": true, "References": true, "未覆盖的内容": true, "参考文献": true}

// CheckVerbatim checks that an extractive report invents nothing. It covers the sections between the first level-2
// heading and the gaps or references. The paragraphs before each run of markers must appear verbatim (letters and
// digits, in order) in the text of a source that they cite. It returns one line per violation.
//
// report: a finished report, with anchors or numbers. sourceText returns the text of the source of a citation id, or
// of a number ("3") in numbered style. It may join several passages, and returns "" for an unknown id.
func CheckVerbatim(report string, sourceText func(citationID string) string) []string {
	var violations []string
	body, quotes := false, 0
	var quote strings.Builder // text since the last marker or heading
	flush := func() {
		if words(quote.String()) != "" {
			violations = append(violations, fmt.Sprintf("no citation: %q", quote.String()))
		}
		quote.Reset()
	}
	for _, l := range strings.Split(report, "\n") {
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
			text := words(markdown.Plain(quote.String()))
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

// words returns the words of a text (letters and digits), joined by spaces.
func words(s string) string {
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return strings.Join(strings.FieldsFunc(s, between), " ")
}
