package prose

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
	AnyMarker = regexp.MustCompile(`\s*` + canonicalMarker)
	// consecutive markers
	anyMarkers = regexp.MustCompile(`(?:\s*` + canonicalMarker + `)+`)
	// markers that follow a full stop, and a second full stop after them
	closedMarkers = regexp.MustCompile(`^(?:\s*` + canonicalMarker + `)+(?:\s*[.。](?:\s|$))?`)
)

// Plain returns Markdown on one line without markers.
func Plain(markdown string) string { return text.Line(AnyMarker.ReplaceAllString(markdown, "")) }

// Statement is a sentence, list item or table row of a written text.
type Statement struct {
	Start, End int      // byte offsets in the text, with markers
	Text       string   // on one line, without markers
	IDs        []string // cited ids
	Row        bool     // table row
	Head       string   // header row of the table, without markers
	Linked     bool     // ids are source ids, because the statement links sources and cites none
}

// Statements splits Markdown with canonical markers into statements. It skips only headings, code and table headers,
// so that no marker is missed. If whole is set, only a marker ends a statement, for quotations of several sentences
// with one marker at the end.
func Statements(body string, whole bool) (out []Statement) {
	for _, p := range Paragraphs(body) {
		out = append(out, statementsIn(body, p, whole)...)
	}
	return out
}

// statementsIn returns the statements of a paragraph of body.
func statementsIn(body string, p paragraph, whole bool) (out []Statement) {
	for _, b := range blocksOf(p) {
		cuts := [][2]int{{0, b.end - b.start}}
		if !b.row {
			cuts = cutsOf(body[b.start:b.end], whole)
		}
		for _, cut := range cuts {
			s := Statement{Start: b.start + cut[0], End: b.start + cut[1], Row: b.row, Head: Plain(b.head)}
			for _, m := range AnyMarker.FindAllString(s.Raw(body), -1) {
				if id := strings.Trim(strings.TrimSpace(m), "[]"); !slices.Contains(s.IDs, id) {
					s.IDs = append(s.IDs, id)
				}
			}
			if s.Text = Plain(s.Raw(body)); s.Row {
				s.Text = strings.Trim(s.Text, "| ")
			}
			if s.Text != "" || len(s.IDs) > 0 {
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

// Raw returns the statement as written in body.
func (s Statement) Raw(body string) string { return body[s.Start:s.End] }

// Key is equal for statements with the same words.
func (s Statement) Key() string { return SentenceKey(s.Text) }

// WithText returns body with the statement replaced by text. An empty text removes the statement, together with a list
// item or table row that has no other content.
func (s Statement) WithText(body, text string) string {
	if text != "" {
		return body[:s.Start] + text + body[s.End:]
	}
	lineStart := strings.LastIndexByte(body[:s.Start], '\n') + 1
	lineEnd := len(body)
	if n := strings.IndexByte(body[s.End:], '\n'); n >= 0 {
		lineEnd = s.End + n
	}
	prefix, suffix := body[lineStart:s.Start], strings.TrimSpace(body[s.End:lineEnd])
	opens := strings.TrimSpace(prefix) == "" || listMark.FindString(prefix) == prefix
	if s.Row || opens && suffix == "" {
		return body[:lineStart] + strings.TrimPrefix(body[lineEnd:], "\n")
	}
	before, after := body[:s.Start], body[s.End:]
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

// WithMarkers inserts markers for ids before the full stop of a sentence.
func WithMarkers(text string, ids []string) string {
	text = strings.TrimRight(text, " \n")
	at := len(strings.TrimRight(text, ".!?。！？"))
	return text[:at] + " [" + strings.Join(ids, "][") + "]" + text[at:]
}

// Readable cleans up Markdown after sentences were removed.
func Readable(body string) string { return markup.CloseCode(Tidy(body)) }
