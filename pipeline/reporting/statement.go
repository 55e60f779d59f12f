package reporting

import (
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/citation/markup"
	"nightdesk/pipeline/text"
)

// canonicalMarker matches a marker in canonical form.
const canonicalMarker = `\[(?:CIT-\d+-\d+|PLAN-\d+)\]`

var (
	anyMarker = regexp.MustCompile(`\s*` + canonicalMarker)
	// consecutive markers
	anyMarkers = regexp.MustCompile(`(?:\s*` + canonicalMarker + `)+`)
	// markers that follow a full stop, and a second full stop after them
	closedMarkers = regexp.MustCompile(`^(?:\s*` + canonicalMarker + `)+(?:\s*[.。](?:\s|$))?`)
)

// plain returns Markdown on one line without markers.
func plain(markdown string) string { return text.Line(anyMarker.ReplaceAllString(markdown, "")) }

// statement is a sentence, list item or table row of a written text.
type statement struct {
	start, end int      // byte offsets in the text, with markers
	text       string   // on one line, without markers
	ids        []string // cited ids
	row        bool     // table row
	head       string   // header row of the table, without markers
	linked     bool     // ids are source ids, because the statement links sources and cites none
}

// statementsOf splits Markdown with canonical markers into statements. It skips only headings, code and table headers,
// so that no marker is missed. If whole is set, only a marker ends a statement, for quotations of several sentences
// with one marker at the end.
func statementsOf(body string, whole bool) (out []statement) {
	for _, p := range paragraphs(body) {
		out = append(out, statementsIn(body, p, whole)...)
	}
	return out
}

// statementsIn returns the statements of a paragraph of body.
func statementsIn(body string, p paragraph, whole bool) (out []statement) {
	for _, b := range blocksOf(p) {
		cuts := [][2]int{{0, b.end - b.start}}
		if !b.row {
			cuts = cutsOf(body[b.start:b.end], whole)
		}
		for _, cut := range cuts {
			s := statement{start: b.start + cut[0], end: b.start + cut[1], row: b.row, head: plain(b.head)}
			for _, m := range anyMarker.FindAllString(s.raw(body), -1) {
				if id := strings.Trim(strings.TrimSpace(m), "[]"); !slices.Contains(s.ids, id) {
					s.ids = append(s.ids, id)
				}
			}
			if s.text = plain(s.raw(body)); s.row {
				s.text = strings.Trim(s.text, "| ")
			}
			if s.text != "" || len(s.ids) > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

// cutsOf splits a block into sentences. Markers after a full stop belong to the preceding sentence.
func cutsOf(block string, whole bool) (out [][2]int) {
	var ends []int
	if whole {
		for _, m := range anyMarkers.FindAllStringIndex(block, -1) {
			rest := block[m[1]:]
			ends = append(ends, m[1]+len(rest)-len(strings.TrimLeft(rest, " \n.。")))
		}
	} else {
		for i, s := range text.Sentences(block) {
			if i > 0 {
				ends = append(ends, s.Start+len(closedMarkers.FindString(block[s.Start:])))
			}
		}
	}
	at := 0
	for _, end := range append(ends, len(block)) {
		if end <= at {
			continue
		}
		if cut := strings.TrimRight(block[at:end], " \n\t"); cut != "" {
			out = append(out, [2]int{at, at + len(cut)})
		}
		at = len(block) - len(strings.TrimLeft(block[end:], " \n\t"))
	}
	return out
}

// raw returns the statement as written in body.
func (s statement) raw(body string) string { return body[s.start:s.end] }

// key is equal for statements with the same words.
func (s statement) key() string { return sentenceKey(s.text) }

// withText returns body with the statement replaced by text. An empty text removes the statement, together with a list
// item or table row that has no other content.
func (s statement) withText(body, text string) string {
	if text != "" {
		return body[:s.start] + text + body[s.end:]
	}
	lineStart := strings.LastIndexByte(body[:s.start], '\n') + 1
	lineEnd := len(body)
	if n := strings.IndexByte(body[s.end:], '\n'); n >= 0 {
		lineEnd = s.end + n
	}
	prefix, suffix := body[lineStart:s.start], strings.TrimSpace(body[s.end:lineEnd])
	opens := strings.TrimSpace(prefix) == "" || listMark.FindString(prefix) == prefix
	if s.row || opens && suffix == "" {
		return body[:lineStart] + strings.TrimPrefix(body[lineEnd:], "\n")
	}
	before, after := body[:s.start], body[s.end:]
	return strings.TrimRight(before, " ") + joint(before, after) + strings.TrimLeft(after, " ")
}

// joint returns the space between the texts before and after a removed sentence.
func joint(before, after string) string {
	switch {
	case strings.HasSuffix(before, " ") && after != "" && !strings.HasPrefix(after, "\n"):
		return " "
	case strings.HasPrefix(after, " ") && before != "" && !strings.HasSuffix(before, "\n"):
		return " "
	}
	return ""
}

// withMarkers inserts markers for ids before the full stop of a sentence.
func withMarkers(text string, ids []string) string {
	text = strings.TrimRight(text, " \n")
	at := len(strings.TrimRight(text, ".!?。！？"))
	return text[:at] + " [" + strings.Join(ids, "][") + "]" + text[at:]
}

// readable cleans up Markdown after sentences were removed.
func readable(body string) string { return markup.CloseCode(tidy(body)) }
