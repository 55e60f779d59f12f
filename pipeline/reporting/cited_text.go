package reporting

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/citation"
)

// citedText is a report as PlainSentences has it, without the captions of its figures, and the markers that stood
// there.
type citedText struct {
	registry *citation.Registry
	numbers  map[string]string // what the numbers of the references stand for, of a report that cites by numbers
	text     string
	lines    map[int]bool // where lines began, by bytes into text
	markers  []marker     // in their order
	taken    []bool       // bytes of text that sentences have which were found
}

// marker is a citation in the text of a report.
type marker struct {
	label   string
	at      int    // bytes into the text, behind what it stands for
	place   string // as places has it; "": it leads to none, or elsewhere than it says
	checked bool
}

// captions are those of figures: each cites the source that it is of, which is no statement to be judged.
var captions = regexp.MustCompile(`(?m)^!\[.*\]\(\S+\)\n\n\*.*$`)

func newCitedText(report string, registry *citation.Registry, references []citation.Valid) *citedText {
	t := &citedText{registry: registry, numbers: map[string]string{}, lines: map[int]bool{}}
	for _, r := range references {
		if r.ID == "" {
			t.numbers[strconv.Itoa(r.Number)] = placeOf(r.URL, r.CitationKey)
		}
	}
	report = captions.ReplaceAllString(report, "")
	var plain []byte
	space, line := false, true // before what comes next
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
	last, code := 0, citation.Code(report)
	for _, m := range linkedMarker.FindAllStringSubmatchIndex(report, -1) {
		if citation.Within(code, m[2]) {
			continue
		}
		write(report[last:m[0]])
		last = m[1]
		if line && len(plain) > 0 && plain[len(plain)-1] != ' ' { // it opens a paragraph, and is no part of the one before
			plain = append(plain, ' ')
		}
		label := report[m[2]:m[3]]
		t.markers = append(t.markers, marker{label: label, at: len(plain), place: t.leadsTo(label, report[m[4]:m[5]]), checked: alone(report, m[2])})
	}
	write(report[last:])
	t.text, t.taken = string(plain), make([]bool, len(plain))
	return t
}

// alone reports whether the line around a place has nothing but markers: nothing is said there that could be checked.
func alone(text string, at int) bool {
	start := strings.LastIndexByte(text[:at], '\n') + 1
	end := len(text)
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		end = at + n
	}
	return !strings.ContainsFunc(linkedMarker.ReplaceAllString(text[start:end], ""), isWord)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// placeOf tells sources apart as readers of numbers do, to whom these stand for pages and documents.
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

// places returns what the markers of a sentence stand for, sorted, each once: sources that it merely links have none.
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

// takeAll finds sentences, each at a place of its own, and returns those that it does not find. Long sentences come
// first: a short one may be the end of a long one, and stand elsewhere by itself.
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

// take finds a sentence that no other one is, with markers for these places and no others, and notes that they are
// checked.
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

// begins reports whether a sentence can begin at a place: not in the middle of another one.
func (t *citedText) begins(at int) bool {
	before, _ := utf8.DecodeLastRuneInString(strings.TrimSuffix(t.text[:at], " "))
	n := t.marker(at - 1)
	return t.lines[at] || !isWord(before) && before != ',' || n < len(t.markers) && t.markers[n].at <= at
}

// marker returns the index of the first marker at a place or behind it.
func (t *citedText) marker(at int) int {
	n, _ := slices.BinarySearchFunc(t.markers, at, func(m marker, at int) int { return m.at - at })
	return n
}

// row extends a passage over empty cells to both sides of it; a passage that is in no table stays as it is.
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

// takeMarkers notes that the markers of a passage are checked, if they are those of these places. A passage may begin
// with one, and the row of a table may have them in cells of their own. Where the next markers of its line are equal to
// its last ones, these are shown once, there.
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

// stand reports whether markers are those of these places.
func (t *citedText) stand(markers []marker, places []string) bool {
	var got []string
	for _, m := range markers {
		got = append(got, m.place)
	}
	slices.Sort(got)
	return slices.Equal(slices.Compact(got), places)
}

// breaks reports whether a line begins between two places.
func (t *citedText) breaks(from, to int) bool {
	for at := from; at < to; at++ {
		if t.lines[at] {
			return true
		}
	}
	return false
}

// aroundBytes is how much text is told of a marker that is not checked.
const aroundBytes = 60

// around returns a marker with the end of its line before it, or the begin behind it where it opens the line: what
// stands in other lines, such as the head of the report, is put there later.
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
