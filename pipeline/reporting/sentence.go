package reporting

import (
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/text"
)

// statement is a sentence, list item or table row of a written text.
type statement struct {
	start, end int      // byte offsets in the text, with markers
	text       string   // on one line, without markers
	ids        []string // cited ids
	row        bool     // table row
	head       string   // header row of the table, without markers
	linked     bool     // ids are source ids, because the statement links sources and cites none
}

var (
	listMark  = regexp.MustCompile(`^[ \t>]*(?:[-*+]|\d{1,3}[.)])[ \t]+`)
	tableRule = regexp.MustCompile(`^[ \t]*\|?[ \t:|-]*-[ \t:|-]*$`)
)

// statementsOf splits Markdown with canonical markers into statements. It skips only headings, code and table headers,
// so that no marker is missed. If whole is set, only a marker ends a statement, for quotations of several sentences
// with one marker at the end.
func statementsOf(body string, whole bool) []statement {
	var out []statement
	for _, b := range blocksOf(body) {
		if b.row {
			s := makeStatement(body, b.start, b.end, true)
			s.head = text.Line(anyMarker.ReplaceAllString(b.head, ""))
			out = append(out, s)
			continue
		}
		for _, cut := range cutsOf(body[b.start:b.end], whole) {
			out = append(out, makeStatement(body, b.start+cut[0], b.start+cut[1], false))
		}
	}
	return slices.DeleteFunc(out, func(s statement) bool { return s.text == "" && len(s.ids) == 0 })
}

func makeStatement(body string, start, end int, row bool) statement {
	s := statement{start: start, end: end, row: row}
	raw := body[start:end]
	for _, m := range anyMarker.FindAllString(raw, -1) {
		if id := strings.Trim(strings.TrimSpace(m), "[]"); !slices.Contains(s.ids, id) {
			s.ids = append(s.ids, id)
		}
	}
	s.text = text.Line(anyMarker.ReplaceAllString(raw, ""))
	if row {
		s.text = strings.Trim(s.text, "| ")
	}
	return s
}

// block is a paragraph, a list item or a table row.
type block struct {
	start, end int
	row        bool
	head       string // the table's header row, as written
}

func blocksOf(body string) []block {
	var out []block
	open := -1
	flush := func(end int) {
		if open >= 0 && strings.TrimSpace(body[open:end]) != "" {
			out = append(out, block{start: open, end: end})
		}
		open = -1
	}
	offset := 0
	head, title := true, "" // of a table
	for _, l := range markdownLines(body) {
		start, end := offset, offset+len(l.text)
		if l.level > 0 && !strings.HasPrefix(strings.TrimSpace(l.text), "#") { // setext heading: include the underline
			if n := strings.IndexByte(body[min(len(body), end+1):], '\n'); n >= 0 {
				end += 1 + n
			} else {
				end = len(body)
			}
		}
		offset = min(len(body), end+1)
		text := strings.TrimSpace(l.text)
		row := strings.HasPrefix(text, "|")
		switch {
		case l.code, l.level > 0, text == "":
			flush(start)
		case row && tableRule.MatchString(text):
			flush(start)
			head = false
		case row:
			flush(start)
			if !head {
				out = append(out, block{start: start, end: end, row: true, head: title})
			} else if title = text; anyMarker.MatchString(text) { // a header row with citations is treated as a row
				out = append(out, block{start: start, end: end, row: true})
			}
		case listMark.MatchString(l.text):
			flush(start)
			open = start + len(listMark.FindString(l.text))
		case open < 0:
			open = start
		}
		if !row {
			head = true
		}
	}
	flush(len(body))
	for i := range out { // trim surrounding space
		raw := body[out[i].start:out[i].end]
		out[i].end = out[i].start + len(strings.TrimRight(raw, " \t\n"))
		out[i].start += len(raw) - len(strings.TrimLeft(raw, " \t\n"))
	}
	return out
}

// cutsOf splits a block into sentences. Markers after a full stop belong to the preceding sentence.
func cutsOf(block string, whole bool) [][2]int {
	var starts []int
	if whole {
		for _, m := range anyMarkers.FindAllStringIndex(block, -1) {
			rest := block[m[1]:]
			tail := len(rest) - len(strings.TrimLeft(rest, " \n.。"))
			starts = append(starts, m[1]+tail)
		}
	} else {
		for _, s := range text.Sentences(block) {
			starts = append(starts, s.Start+len(closedMarkers.FindString(block[s.Start:])))
		}
		if len(starts) > 0 {
			starts = starts[1:]
		}
	}
	var out [][2]int
	at := 0
	for _, next := range append(starts, len(block)) {
		end := at + len(strings.TrimRight(block[at:max(at, next)], " \n\t"))
		if next > at && end > at {
			out = append(out, [2]int{at, end})
		}
		at = max(at, next)
		at += len(block[at:]) - len(strings.TrimLeft(block[at:], " \n\t"))
	}
	return out
}

// closedMarkers matches markers that follow a full stop, and a second full stop after them.
var closedMarkers = regexp.MustCompile(`^(?:\s*\[(?:CIT-\d+-\d+|PLAN-\d+)\])+(?:\s*[.。](?:\s|$))?`)

// anyMarkers matches consecutive markers.
var anyMarkers = regexp.MustCompile(`(?:\s*\[(?:CIT-\d+-\d+|PLAN-\d+)\])+`)

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
	prefix, suffix := body[lineStart:s.start], body[s.end:lineEnd]
	if s.row || strings.TrimSpace(suffix) == "" && (strings.TrimSpace(prefix) == "" || listMark.FindString(prefix) == prefix) {
		return body[:lineStart] + strings.TrimPrefix(body[lineEnd:], "\n")
	}
	return strings.TrimRight(body[:s.start], " ") + joint(body[:s.start], body[s.end:]) + strings.TrimLeft(body[s.end:], " ")
}

// joint returns the space between the texts before and after a removed sentence.
func joint(before, after string) string {
	if strings.HasSuffix(before, " ") && after != "" && !strings.HasPrefix(after, "\n") {
		return " "
	}
	if strings.HasSuffix(before, "\n") {
		return ""
	}
	if strings.HasPrefix(after, " ") && before != "" {
		return " "
	}
	return ""
}

// withMarkers inserts markers for ids before the full stop of a sentence.
func withMarkers(text string, ids []string) string {
	text = strings.TrimRight(text, " \n")
	at := len(strings.TrimRight(text, ".!?。！？"))
	marks := " [" + strings.Join(ids, "][") + "]"
	return text[:at] + marks + text[at:]
}

// readable cleans up Markdown after sentences were removed.
func readable(body string) string { return citation.CloseCode(tidy(body)) }
