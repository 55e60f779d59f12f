package verification

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/markup"
)

// rewrite puts the result together: entries and headings of lists as they are to be, between them the text with its
// markers and addresses resolved.
func (v *verifier) rewrite() string {
	var out bytes.Buffer
	pos, list := 0, -1 // list: where the last list with numbers ends in out
	for _, e := range v.entries {
		if pos < e.start {
			out.WriteString(v.body(pos, e.start))
		}
		if pos = v.item(&out, e); e == v.last {
			list = out.Len()
		}
	}
	if pos < len(v.Markdown) {
		out.WriteString(v.body(pos, len(v.Markdown)))
	}
	result := out.String()
	switch {
	case len(v.added) > 0 && list >= 0:
		before, ended := strings.CutSuffix(result[:list], "\n")
		if items := v.items(before); ended {
			result = items + "\n" + result[list:]
		} else {
			result = items + result[list:]
		}
	case len(v.added) > 0:
		result = v.items(strings.TrimRight(markup.CloseCode(result), " \t\n") + "\n\n## Sources")
	}
	switch {
	case len(v.added) > 0 || slices.ContainsFunc(v.entries, (*entry).stays):
		result = strings.TrimRight(result, " \t\n") + "\n"
	case len(v.entries) > 0 && !strings.HasSuffix(v.Markdown, "\n"):
		result = strings.TrimRight(result, "\n")
	}
	return result
}

// item writes an entry, or nothing, and returns the byte at which the text goes on.
func (v *verifier) item(out *bytes.Buffer, e *entry) int {
	fresh := out.Len() == 0 || bytes.HasSuffix(out.Bytes(), []byte("\n"))
	if e.stays() {
		out.WriteString(v.written(e))
		return e.end
	}
	end := e.end
	if fresh && strings.HasPrefix(v.Markdown[end:], "\n") {
		end++
		if markup.EndsBlank(out.Bytes()) && strings.HasPrefix(v.Markdown[end:], "\n") {
			end++ // one blank line between paragraphs is enough
		}
	}
	return end
}

// written returns an entry that stays.
func (v *verifier) written(e *entry) string {
	n := strconv.Itoa(e.final)
	switch {
	case e.id != "":
		return v.Markdown[e.start:e.body] + e.text
	case e.style == tableStyle && e.bare:
		return v.Markdown[e.start:e.body] + "[" + n + "] " + e.text
	case e.style == tableStyle:
		label := v.Markdown[e.start:e.body]
		return strings.Replace(strings.Replace(label, "^", "", 1), strconv.Itoa(e.number), n, 1) + e.text
	case e.anchor:
		return e.indent + `<a id="ref-` + n + `"></a> [` + n + "] " + strings.TrimLeft(e.text, " \t")
	}
	if e.footnote {
		return e.indent + "[^" + n + "]: " + strings.TrimLeft(e.text, " \t")
	}
	return strings.TrimRight(e.indent+"["+n+"] "+strings.TrimLeft(e.text, " \t"), " ")
}

// items appends the entries of sources that only the text links to.
func (v *verifier) items(text string) string {
	for _, e := range v.added {
		text += "\n" + v.written(e)
	}
	return text
}

// body returns the text between two positions with its markers and addresses resolved.
func (v *verifier) body(start, end int) string {
	w := v.Edit()
	w.OnLink = v.judgeBody
	w.OnMarker = func(t markup.Token) (string, bool) {
		g := t.Group
		if !v.isMarker(w, t) {
			return "", false
		}
		var markers []string
		for _, id := range g.IDs {
			if e := v.byID[id.String()]; e != nil && e.reason == "" {
				markers = append(markers, e.marker())
			}
		}
		for _, n := range g.Numbers {
			if e, _ := v.byNumber.of(n, t.Start); e != nil {
				markers = append(markers, e.located(g.Locator))
			}
		}
		if g.Dest != "" {
			markers = v.linked(markers, g.Dest)
		}
		return w.Cite(markers...), true
	}
	return w.Run(start, end)
}

// linked deals with the address of a marker that is a link, [1](https://...).
func (v *verifier) linked(markers []string, dest string) []string {
	if _, kind := citation.Destination(dest); kind == citation.Harmless {
		return markers
	}
	if to := v.judgeBody(markup.Token{Kind: markup.Address, Dest: dest}); len(markers) == 0 && to.After != "" {
		markers = append(markers, to.After)
	}
	return markers
}

// isMarker reports whether a group of ids or numbers is one of citations of this text.
func (v *verifier) isMarker(w *markup.Editor, t markup.Token) bool {
	g := t.Group
	if t.Kind == markup.Named || g.Round && len(g.IDs) == 0 {
		return false // a word; or it encloses markers, which come next
	}
	if len(g.IDs) > 0 {
		return len(v.byID) > 0
	}
	_, kind := citation.Destination(g.Dest)
	if g.Dest != "" && kind != citation.Harmless {
		return g.Numbers[0] < 1000
	}
	if len(v.entries)+len(v.added) == 0 {
		return false
	}
	for _, n := range g.Numbers {
		invented := n > 0 && n < 1000 && !g.Hash // no year, size or number of another thing
		if _, known := v.byNumber.of(n, t.Start); !known && !invented {
			return false
		}
	}
	return w.IsCitation(t.Start, g)
}
