package citation

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"nightdesk/pipeline/text"
)

// rewrite puts the result together: entries and headings of lists as they are to be, between them the text with its
// markers and addresses resolved.
func (v *verifier) rewrite() string {
	var out bytes.Buffer
	pos := 0
	heads := v.sections
	for _, e := range v.entries {
		if len(heads) > 0 && heads[0].start >= 0 && heads[0].start < e.start {
			s := heads[0]
			heads = heads[1:]
			out.WriteString(v.body(pos, s.start))
			pos = s.end
			out.WriteString(v.heading(s))
		}
		if pos < e.start {
			out.WriteString(v.body(pos, e.start))
		}
		pos = v.item(&out, e)
		if e == v.last && len(v.added) > 0 {
			ended := bytes.HasSuffix(out.Bytes(), []byte("\n"))
			v.items(&out)
			if ended {
				out.WriteByte('\n')
			}
		}
	}
	if pos < len(v.text) {
		out.WriteString(v.body(pos, len(v.text)))
	}
	result := out.String()
	if v.last == nil && len(v.added) > 0 {
		out.Reset()
		out.WriteString(strings.TrimRight(CloseCode(result), " \t\n"))
		out.WriteString("\n\n## " + sourcesHeading(result))
		out.WriteByte('\n')
		v.items(&out)
		result = out.String()
	}
	switch {
	case v.o.Sanitize && (len(v.added) > 0 || slices.ContainsFunc(v.entries, (*entry).stays)):
		result = strings.TrimRight(result, " \t\n") + "\n"
	case len(v.entries) > 0 && !strings.HasSuffix(v.text, "\n"):
		result = strings.TrimRight(result, "\n")
	}
	return result
}

// lastNumbered returns the last entry of the last list with numbers, nil without one.
func lastNumbered(sections []*refSection) *entry {
	for _, s := range slices.Backward(sections) {
		if s.entries[0].id == "" {
			return s.last()
		}
	}
	return nil
}

// sourcesHeading names the list of sources of a text that has none.
func sourcesHeading(text string) string {
	han := strings.IndexFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
	if han >= 0 && strings.IndexFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
	}) < 0 {
		return "参考文献"
	}
	return "Sources"
}

// heading returns the heading of a list by its own name, in one form for all where it is a plain one.
func (v *verifier) heading(s *refSection) string {
	raw := v.text[s.start:s.end]
	line, _, _ := strings.Cut(raw, "\n")
	name := strings.Trim(text.Line(line), "#*_:： ")
	own := len(v.sections) > 1 || s.entries[0].anchor || s.entries[0].id != ""
	plain := s.head.level == 7 || english[s.head.label]
	if own || !plain || strings.ToLower(name) != s.head.label {
		return raw
	}
	return "## " + name
}

// item writes an entry, or nothing, and returns the byte at which the text goes on.
func (v *verifier) item(out *bytes.Buffer, e *entry) int {
	fresh := out.Len() == 0 || bytes.HasSuffix(out.Bytes(), []byte("\n"))
	if e.stays() {
		out.WriteString(v.written(e))
		return e.end
	}
	end := e.end
	if fresh && strings.HasPrefix(v.text[end:], "\n") {
		end++
		if endsBlank(out.Bytes()) && strings.HasPrefix(v.text[end:], "\n") {
			end++ // one blank line between paragraphs is enough
		}
	}
	return end
}

// endsBlank reports whether a text is empty or ends with a blank line.
func endsBlank(out []byte) bool { return len(out) == 0 || bytes.HasSuffix(out, []byte("\n\n")) }

// written returns an entry that stays.
func (v *verifier) written(e *entry) string {
	n := strconv.Itoa(e.final)
	stays := e.number == noNumber && !v.o.Sanitize || e.bare && v.placed
	switch {
	case e.id != "" || stays:
		return v.text[e.start:e.body] + e.text
	case e.style == tableStyle:
		label := v.text[e.start:e.body]
		return strings.Replace(strings.Replace(label, "^", "", 1), strconv.Itoa(e.number), n, 1) + e.text
	case e.anchor:
		return e.indent + `<a id="ref-` + n + `"></a> [` + n + "] " + strings.TrimLeft(e.text, " \t")
	}
	if e.footnote {
		return e.indent + "[^" + n + "]: " + strings.TrimLeft(e.text, " \t")
	}
	return strings.TrimRight(e.indent+"["+n+"] "+strings.TrimLeft(e.text, " \t"), " ")
}

// items writes the entries of sources that only the text links to.
func (v *verifier) items(out *bytes.Buffer) {
	for _, e := range v.added {
		if !bytes.HasSuffix(out.Bytes(), []byte("\n")) {
			out.WriteByte('\n')
		}
		if e.anchor && !bytes.HasSuffix(out.Bytes(), []byte("\n\n")) {
			out.WriteByte('\n') // entries with anchors are paragraphs
		}
		out.WriteString(v.written(e))
	}
}

// body returns the text between two positions with its markers and addresses resolved.
func (v *verifier) body(start, end int) string {
	text := v.text[start:end]
	if strings.TrimSpace(text) == "" {
		return text
	}
	w := newWalker(text, v.read.code.within(start, end))
	w.external = true
	isMarker := func(at int, g group) bool { return v.isMarker(w, start+at, at, g) }
	if v.o.Sanitize {
		w.judge, w.known = v.judgeBody, v.knows
		w.isMarker = isMarker
	}
	w.onGroup = func(at int, g group) (string, bool) {
		if !isMarker(at, g) {
			return "", false
		}
		var markers []string
		for _, id := range g.ids {
			if e := v.byID[id.String()]; e != nil && e.reason == "" {
				markers = append(markers, e.marker())
			}
		}
		for _, n := range g.numbers {
			if e, _ := v.byNumber.of(n, start+at); e != nil {
				markers = append(markers, e.located(g.locator))
			}
		}
		if g.dest != "" {
			markers = v.linked(markers, g.dest)
		}
		return w.cite(markers...), true
	}
	return w.run()
}

// linked deals with the address of a marker that is a link, [1](https://...).
func (v *verifier) linked(markers []string, dest string) []string {
	_, kind := destination(dest)
	switch {
	case kind == destHarmless:
	case !v.o.Sanitize:
		if len(markers) == 1 {
			markers[0] += "(" + dest + ")"
		}
	default:
		if to := v.judgeBody(dest, linkBare); len(markers) == 0 && to.after != "" {
			markers = append(markers, to.after)
		}
	}
	return markers
}

// isMarker reports whether a group of ids or numbers is one of citations of this text.
func (v *verifier) isMarker(w *walker, pos, at int, g group) bool {
	if len(g.ids) > 0 {
		return len(v.byID) > 0
	}
	_, kind := destination(g.dest)
	if g.dest != "" && kind != destHarmless && v.o.Sanitize {
		return g.numbers[0] < 1000
	}
	if len(v.entries)+len(v.added) == 0 {
		return false
	}
	for _, n := range g.numbers {
		invented := n > 0 && n < 1000 && !v.trusting && !g.hash // no year, size or number of another thing
		if _, known := v.byNumber.of(n, pos); !known && !invented {
			return false
		}
	}
	return w.isCitation(at, g)
}
