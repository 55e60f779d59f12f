package citation

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Why something was taken out of a text.
const (
	ReasonUnknownKey = "citation_key_not_in_registry"
	ReasonUnknownURL = "url_not_in_registry"
	ReasonNumber     = "number_without_reference" // [7]: a model's own numbering refers to nothing
	ReasonMarkup     = "html_not_allowed"         // tags that load, run or link something
)

// Removal records one marker or address that was taken out of a text because nothing in the registry stands behind it.
type Removal struct {
	Marker string `json:"marker"` // [CIT-9-01], [7], a URL or a tag
	Reason string `json:"reason"` // one of the Reason... constants
}

// Resolve returns Markdown in which every marker has its canonical form, [CIT-3-01], one bracket for each id, and stands
// for a citation of the registry. Everything else that looks like a citation is removed together with the space before
// it and reported: unknown ids, bare numbers, addresses that no source has (the text of such a link stays).
// An address that leads to a source in another way than exactly becomes the source's own.
// Code is left alone. Resolving the result again changes nothing, unless brackets are nested a hundred deep. Never fails.
func (r *Registry) Resolve(markdown string) (string, []Removal) {
	resolved, removed, _ := r.ResolveLinks(markdown)
	return resolved, removed
}

// ResolveLinks is Resolve, and returns the addresses that stay, as they were written.
func (r *Registry) ResolveLinks(markdown string) (resolved string, removed []Removal, kept []Linked) {
	markdown = strings.ToValidUTF8(markdown, "\uFFFD")
	// What is removed may join its neighbours to a new marker, so the text is read until nothing changes: twice for real
	// text. The bound is for text that was made to annoy: brackets nested without end.
	for range 30 {
		out, more, links := r.resolveOnce(markdown)
		removed = append(removed, more...)
		for _, l := range links {
			if !slices.ContainsFunc(kept, func(k Linked) bool { return k.Address == l.Address && l.Match == MatchExact }) { // else it was made so
				kept = addLink(kept, l)
			}
		}
		if out == markdown {
			break
		}
		markdown = out
	}
	return markdown, removed, kept
}

func (r *Registry) resolveOnce(markdown string) (out string, removed []Removal, kept []Linked) {
	note := func(marker, reason string) { removed = append(removed, Removal{marker, reason}) }
	w := walker{text: markdown, code: codeSpans(markdown), markerEnd: -1}
	w.links = links{note: note, judge: func(dest string, kind linkKind) verdict {
		l, ok := r.Lead(dest)
		switch {
		case !ok:
			note(dest, ReasonUnknownURL)
			return verdict{}
		case kind == linkDefinition: // goes in any case
			return verdict{}
		}
		kept = addLink(kept, l)
		if l.Match == MatchExact {
			return verdict{keep: true}
		}
		return verdict{keep: true, dest: safeSpelling(l.Address)}
	}}
	w.links.known = r.HasURL
	w.links.isMarker = func(_ int, g group) bool { return len(g.ids) > 0 }
	w.onGroup = func(start int, g group) (string, bool) {
		if len(g.ids) == 0 {
			if !w.isCitedNumber(start, g) {
				return "", false
			}
			note(markdown[start:g.end], ReasonNumber)
			return "", true
		}
		var b strings.Builder
		for _, id := range g.ids {
			if _, known := r.traces[id.String()]; known {
				if w.fresh(id.String()) {
					b.WriteString("[" + id.String() + "]")
				}
			} else {
				note("["+id.String()+"]", ReasonUnknownKey)
			}
		}
		if g.dest != "" && !strings.HasPrefix(g.dest, "#") && !r.HasURL(g.dest) {
			note(g.dest, ReasonUnknownURL)
		}
		return b.String(), true
	}
	return w.run(), removed, kept
}

// walker copies text, outside code, and asks what becomes of each marker group.
type walker struct {
	text    string
	code    []span // not yet passed
	onGroup func(start int, g group) (replacement string, ok bool)
	links   links // zero: links, tags and ids without brackets are left as they are

	out       bytes.Buffer
	space     string   // white space held back until it is clear what follows
	markerEnd int      // where the last replaced group ends in text; -1 = none yet
	adjacent  []string // ids of the groups that end there
	outMark   int      // where the last marker ends in out
	bracket   int      // the ] that comes next; -1 = none does
	math      []span   // found when first needed
	mathFound bool
}

// run returns the changed text.
func (w *walker) run() string {
	w.out.Grow(len(w.text) + len(w.text)/8)
	for i := 0; i < len(w.text); {
		if len(w.code) > 0 && w.code[0].start <= i {
			if end := w.code[0].end; end > i {
				w.copy(i, end)
				i = end
			}
			w.code = w.code[1:]
			continue
		}
		if next := w.step(i); next > i {
			i = next
			continue
		}
		_, size := utf8.DecodeRuneInString(w.text[i:])
		if w.text[i] == '\\' && i+1 < len(w.text) && isPunct(w.text[i+1]) {
			size = 2
		}
		w.copy(i, i+size)
		i += size
	}
	return w.out.String() + w.space
}

// step handles what begins at i; it returns i when that is ordinary text.
func (w *walker) step(i int) int {
	if w.links.foreign {
		if next := w.raisedNumber(i); next > i {
			return next
		}
	}
	if w.links.judge != nil {
		if next := w.stepLink(i); next > i {
			return next
		}
	}
	first, _ := utf8.DecodeRuneInString(w.text[i:])
	if closingBracket(first) == 0 {
		return i
	}
	g, ok := parseGroup(w.text[:w.plainEnd(i)], i, 0)
	if !ok || w.isLabel(i) || w.links.foreign && len(g.ids) == 0 && (first == '(' || first == '（') { // what it encloses comes next
		return i
	}
	if w.links.foreign {
		g = throughMarker(w.text[:w.plainEnd(i)], g)
	}
	return w.replace(i, g)
}

// replace puts what onGroup wants in the place of the group at i; it returns i when the group stays.
func (w *walker) replace(i int, g group) int {
	if w.markerEnd != i && !w.links.foreign {
		w.adjacent = w.adjacent[:0]
	}
	replacement, ok := w.onGroup(i, g)
	if !ok {
		return i
	}
	w.markerEnd = g.end
	if replacement == "" {
		return w.gone(g.end)
	}
	w.write(replacement)
	w.outMark = w.out.Len()
	return g.end
}

// fresh reports whether the id does not stand in the same row of markers already.
func (w *walker) fresh(id string) bool {
	if slices.Contains(w.adjacent, id) {
		return false
	}
	w.adjacent = append(w.adjacent, id)
	return true
}

// isLabel reports whether the bracket at i names an entry of the references: it follows the entry's anchor.
func (w *walker) isLabel(i int) bool {
	before := strings.TrimRight(w.text[max(0, i-80):i], " ")
	before, closed := strings.CutSuffix(before, `"></a>`)
	return closed && strings.Contains(before[strings.LastIndexByte(before, '<')+1:], `a id="ref-`)
}

// plainEnd returns how far text reaches from i without code.
func (w *walker) plainEnd(i int) int {
	if len(w.code) > 0 {
		return max(i, w.code[0].start)
	}
	return len(w.text)
}

func (w *walker) copy(start, end int) {
	s := w.text[start:end]
	if strings.Trim(s, " \t") == "" {
		w.space += s
		return
	}
	w.out.WriteString(w.space)
	w.space = ""
	w.out.WriteString(s)
}

// write puts text in the place of what is passed over.
func (w *walker) write(s string) {
	w.out.WriteString(w.space)
	w.space = ""
	w.out.WriteString(s)
}

// insert puts a marker, or nothing, in the place of what ends at next, and returns where to go on. gone: no text stays
// of what was there.
func (w *walker) insert(marker string, next int, gone bool) int {
	if marker = w.cite(marker); marker != "" {
		if !gone {
			w.space = " "
		}
		w.write(marker)
		w.outMark = w.out.Len()
		return next
	}
	if gone {
		return w.gone(next)
	}
	return next
}

// cite returns those of the markers that do not stand at the end of what is written already.
func (w *walker) cite(markers ...string) string {
	if w.out.Len() != w.outMark {
		w.adjacent = w.adjacent[:0]
	}
	var b strings.Builder
	for _, m := range markers {
		if m != "" && w.fresh(m) {
			b.WriteString(m)
		}
	}
	return b.String()
}

// gone tidies up around what was removed before next, and returns where to go on.
func (w *walker) gone(next int) int {
	before := w.space
	w.dropSpace(next)
	if !w.links.foreign {
		return next
	}
	if m := joinsMarker.FindStringSubmatchIndex(w.text[next:min(len(w.text), next+20)]); m != nil { // the next one takes its place
		w.space = before
		return next + m[2]
	}
	if close, size := utf8.DecodeRuneInString(w.text[next:]); close == ')' || close == '）' {
		out := w.out.Bytes()
		if m := announced.FindIndex(out[max(0, len(out)-24):]); m != nil {
			w.out.Truncate(len(out) - (m[1] - m[0]))
			w.space = ""
			next += size
			w.dropSpace(next)
		}
	}
	for _, pair := range enclosing {
		if strings.HasPrefix(w.text[next:], pair[1]) && w.opens(pair) {
			w.out.Truncate(w.out.Len() - len(pair[0]))
			trimmed := bytes.TrimRight(w.out.Bytes(), " ")
			w.space = strings.Repeat(" ", w.out.Len()-len(trimmed))
			w.out.Truncate(len(trimmed))
			next += len(pair[1])
			w.dropSpace(next)
		}
	}
	if emphasisEnd.MatchString(w.text[next:min(len(w.text), next+4)]) {
		w.space = ""
	}
	next = w.punctuation(next)
	line := w.out.Bytes()[max(0, w.out.Len()-42):] // a bullet is short
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	if len(line) > 40 || len(bytes.TrimLeft(line, " \t")) > 0 && !bullet.Match(line) {
		return next
	}
	rest := strings.TrimLeft(w.text[next:], " \t")
	switch {
	case strings.HasPrefix(rest, "\n"): // nothing is left of the line
		w.out.Truncate(w.out.Len() - len(line))
		w.space = ""
		next = len(w.text) - len(rest) + 1
		if w.out.Len() == 0 || bytes.HasSuffix(w.out.Bytes(), []byte("\n\n")) { // one blank line between paragraphs is enough
			next += len(w.text[next:]) - len(strings.TrimPrefix(w.text[next:], "\n"))
		}
		return next
	case len(line) == 0:
		return len(w.text) - len(rest)
	}
	return next
}

// joinsMarker is what stands between two markers of a row.
var joinsMarker = regexp.MustCompile(`^(?:[ ]?[,;&/、，；]|[ ](?:and|or|und|et|y)\b|[ ]?[和及与])[ ]?(\[\^?[0-9])`)

// announced is a bracket that announced what has gone: "(see", "(Source:".
var announced = regexp.MustCompile(`(?i)\s?[(（]\s*(?:see|see also|cf\.?|via|sources?|quellen?|siehe|vgl\.?|voir|fuente|来源|参见|见)\s*[:：]?\s*$`)

// enclosing is what may stand around markers, and says nothing without them.
var enclosing = [][2]string{{"<sup>", "</sup>"}, {"**", "**"}, {"__", "__"}, {"*", "*"}, {"_", "_"}, {"^", "^"}, {"(", ")"}, {"[", "]"}, {"（", "）"}}

// opens reports whether the text so far ends with the opening part of a pair, which no other one closes in its line.
func (w *walker) opens(pair [2]string) bool {
	out := w.out.Bytes()
	if !bytes.HasSuffix(out, []byte(pair[0])) {
		return false
	}
	if pair[0] != pair[1] {
		return true
	}
	line := out[max(0, len(out)-400):]
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	return bytes.Count(line, []byte(pair[0]))%2 == 1
}

// punctuation takes out what joined the removed to its neighbours: the comma after another comma, the "and" of a row of
// markers that ends there.
func (w *walker) punctuation(next int) int {
	out := w.out.Bytes()
	if len(out) == 0 {
		return next
	}
	after, size := utf8.DecodeRuneInString(w.text[next:])
	last, _ := utf8.DecodeLastRune(out)
	switch {
	case strings.ContainsRune(".,;。，；、", after) && strings.ContainsRune(".,;:!?。，；：！？、", last):
		if strings.ContainsRune(",;，；、", last) && strings.ContainsRune(".。", after) { // the stronger one stays
			_, n := utf8.DecodeLastRune(out)
			w.out.Truncate(len(out) - n)
			return next
		}
		return next + size
	case strings.ContainsRune(".\n),;:。，；：", after) || next == len(w.text):
		tail := out[max(0, len(out)-12):]
		if m := rowEnd.FindIndex(tail); m != nil {
			w.out.Truncate(len(out) - len(tail) + m[0] + 1)
		}
	}
	return next
}

// emphasisEnd is the end of emphasised text.
var emphasisEnd = regexp.MustCompile(`^(?:\*{1,3}|_{1,3})(?:[^\w*]|$)`)

// rowEnd is a row of markers whose last one has gone.
var rowEnd = regexp.MustCompile(`\](?:,| and|, and| or|, or| und| &| to| through)$`)

// bullet is the beginning of a list item with nothing behind it.
var bullet = regexp.MustCompile(`^[ \t>]*(?:[-*+]|[0-9]{1,4}[.)])[ \t]*$`)

// dropSpace removes the white space before what is removed, unless two words would grow together.
func (w *walker) dropSpace(next int) {
	if w.space == "" {
		return
	}
	w.space = ""
	if r, _ := utf8.DecodeRuneInString(w.text[next:]); next < len(w.text) && w.out.Len() > 0 && !strings.ContainsRune(" \t\n.,;:!?)]}\"”’»。，；：！？）】", r) {
		w.space = " "
	}
}
