package reporting

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/markup"
	"nightdesk/pipeline/citation/verification"
	"nightdesk/pipeline/reporting/prose"
)

// citedText is the text of a report as PlainSentences returns it, without captions of figures, and with the positions
// of its markers.
type citedText struct {
	registry *citation.Registry
	numbers  map[string]string // source of each reference number, in numbered style
	text     string
	lines    map[int]bool // byte offsets in text at which lines began
	markers  []marker     // in order
	taken    []bool       // bytes of text that belong to a matched sentence
}

// marker is a citation in the report.
type marker struct {
	label   string
	at      int    // byte offset in the text, after the cited words
	place   string // as places returns it; "" if the marker has no source or another one than its label
	checked bool
}

// captions matches pictures with their captions. A caption cites the source of its figure and is not a statement to
// check.
var captions = regexp.MustCompile(`(?m)^!\[.*\]\(\S+\)\n\n\*.*$`)

func newCitedText(report string, registry *citation.Registry, references []verification.Valid) *citedText {
	t := &citedText{registry: registry, numbers: map[string]string{}, lines: map[int]bool{}}
	for _, r := range references {
		if r.ID == "" {
			t.numbers[strconv.Itoa(r.Number)] = placeOf(r.URL, r.CitationKey)
		}
	}
	report = captions.ReplaceAllString(report, "")
	var plain []byte
	space, line := false, true // pending before the next rune
	write := func(piece string) {
		for _, r := range piece {
			if unicode.IsSpace(r) {
				space, line = true, line || r == '\n'
				continue
			}
			if space && len(plain) > 0 && plain[len(plain)-1] != ' ' {
				plain = append(plain, ' ')
			}
			if line {
				t.lines[len(plain)] = true
			}
			space, line = false, false
			plain = utf8.AppendRune(plain, r)
		}
	}
	last, code := 0, markup.Code(report)
	for _, m := range linkedMarker.FindAllStringSubmatchIndex(report, -1) {
		if markup.Within(code, m[2]) {
			continue
		}
		write(report[last:m[0]])
		last = m[1]
		if line && len(plain) > 0 && plain[len(plain)-1] != ' ' { // the marker opens a paragraph
			plain = append(plain, ' ')
		}
		label := report[m[2]:m[3]]
		t.markers = append(t.markers, marker{
			label: label, at: len(plain), place: t.leadsTo(label, report[m[4]:m[5]]), checked: alone(report, m[2]),
		})
	}
	write(report[last:])
	t.text, t.taken = string(plain), make([]bool, len(plain))
	return t
}

// alone reports whether the line at a position has only markers, so that there is nothing to check.
func alone(text string, at int) bool {
	start := strings.LastIndexByte(text[:at], '\n') + 1
	end := len(text)
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		end = at + n
	}
	return !strings.ContainsFunc(linkedMarker.ReplaceAllString(text[start:end], ""), prose.IsWord)
}

// placeOf identifies a source by address and key, as numbered references do.
func placeOf(url, key *string) string {
	place := "\x00"
	if url != nil {
		place = *url + place
	}
	if key != nil {
		place += *key
	}
	return place
}

// leadsTo returns the place of a marker.
func (t *citedText) leadsTo(label, anchor string) string {
	if !strings.EqualFold(label, anchor) {
		return ""
	}
	if _, ok := t.registry.Source(label); ok {
		return label
	}
	return t.numbers[label]
}

// places returns the distinct places of a sentence's citations, sorted. Sources that are only linked have none.
func (t *citedText) places(cited []string) (places []string) {
	for _, id := range cited {
		s, ok := t.registry.Source(id)
		switch {
		case !ok:
		case len(t.numbers) == 0:
			places = append(places, id)
		default:
			places = append(places, placeOf(&s.URL, &s.Key))
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// takeAll matches each sentence with its own position in the text and returns the sentences not found. Longer sentences
// are matched first, because a short one may be the end of a long one and also stand elsewhere.
func (t *citedText) takeAll(sentences []CheckedSentence) (absent []string) {
	plain, order, found := make([]string, len(sentences)), []int{}, make([]bool, len(sentences))
	for i, s := range sentences {
		if found[i] = s.Action == ActionRemoved; !found[i] {
			plain[i], order = PlainSentences(s.Text), append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return len(plain[j]) - len(plain[i]) })
	for _, i := range order {
		found[i] = t.take(plain[i], t.places(sentences[i].Citations))
	}
	for i, s := range sentences {
		if !found[i] {
			absent = append(absent, s.Text)
		}
	}
	return absent
}

// take matches a sentence with a free position whose markers cite exactly these places, and marks the position as
// taken.
func (t *citedText) take(sentence string, places []string) bool {
	for from := 0; sentence != ""; from++ {
		at := strings.Index(t.text[from:], sentence)
		if at < 0 {
			break
		}
		if from += at; !t.taken[from] && t.begins(from) && t.takeMarkers(from, from+len(sentence), places) {
			for i := range len(sentence) {
				t.taken[from+i] = true
			}
			return true
		}
	}
	return false
}

// begins reports whether a sentence can begin at a position, which must not be inside another one.
func (t *citedText) begins(at int) bool {
	if n := t.marker(at - 1); t.lines[at] || n < len(t.markers) && t.markers[n].at <= at {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(strings.TrimSuffix(t.text[:at], " "))
	return !prose.IsWord(before) && before != ','
}

// marker returns the index of the first marker at or after a position.
func (t *citedText) marker(at int) int {
	n, _ := slices.BinarySearchFunc(t.markers, at, func(m marker, at int) int { return m.at - at })
	return n
}

// row extends a passage over adjacent empty table cells. A passage outside tables is unchanged.
func (t *citedText) row(from, to int) (start, end int) {
	start, end = from, to
	for end < len(t.text) && strings.IndexByte(" |", t.text[end]) >= 0 && !t.lines[end] {
		end++
	}
	for start > 0 && strings.IndexByte(" |", t.text[start-1]) >= 0 && !t.lines[start] {
		start--
	}
	if !strings.Contains(t.text[to:end], "|") {
		end = to
	}
	if !strings.Contains(t.text[start:from], "|") {
		start = from
	}
	return start, end
}

// takeMarkers marks the markers of a passage as checked if they cite exactly these places. A passage may begin with a
// marker, and a table row may have markers in separate cells. If the next markers of the line repeat the last ones of
// the passage, they are shown only once, at the later position.
func (t *citedText) takeMarkers(from, to int, places []string) bool {
	from, to = t.row(from, to)
	last := t.marker(to + 1)
	for _, first := range []int{t.marker(from + 1), t.marker(from - 1)} {
		if t.stand(t.markers[first:last], places) {
			for i := range t.markers[first:last] {
				t.markers[first+i].checked = true
			}
			return true
		}
	}
	next := last
	for next < len(t.markers) && t.markers[next].at == t.markers[last].at {
		next++
	}
	return next > last && !t.breaks(to, t.markers[last].at) && t.stand(t.markers[t.marker(from+1):next], places)
}

// stand reports whether markers cite exactly these places.
func (t *citedText) stand(markers []marker, places []string) bool {
	var got []string
	for _, m := range markers {
		got = append(got, m.place)
	}
	slices.Sort(got)
	return slices.Equal(slices.Compact(got), places)
}

// breaks reports whether a line begins between two positions.
func (t *citedText) breaks(from, to int) bool {
	for at := from; at < to; at++ {
		if t.lines[at] {
			return true
		}
	}
	return false
}

// aroundBytes is the length of the text shown with an unchecked marker.
const aroundBytes = 60

// around returns a marker with the preceding text of its line, or with the following text if the marker opens the line.
// It ignores other lines, because the report's head, for example, is added later.
func (t *citedText) around(m marker) string {
	from, to := m.at, m.at
	for from > 0 && m.at-from < aroundBytes && !t.lines[from] {
		from--
	}
	if from < m.at {
		return strings.ToValidUTF8(t.text[from:m.at], "") + " [" + m.label + "]"
	}
	for to++; to < len(t.text) && to-m.at < aroundBytes && !t.lines[to]; {
		to++
	}
	return "[" + m.label + "] " + strings.ToValidUTF8(t.text[m.at:min(to, len(t.text))], "")
}
