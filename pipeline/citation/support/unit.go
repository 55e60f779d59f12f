package support

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/text"
)

// unit is a sentence of a source, or a line of text without sentences, such as a table row or code.
type unit struct {
	start, end int
	heading    int  // index of the heading above it
	level      int  // heading level, from 1; 0: not a heading
	lead       int  // index of the unit that introduces it: the heading, or the line above its table or list
	row        bool // whether it is a table row
	item       bool // whether it is a list item
}

// maxUnit is the maximum length of a unit in bytes. Longer text is split.
const maxUnit = 2000

func unitsOf(s string) []unit {
	var out []unit
	for _, u := range text.Units(s) {
		for start := u.Start; start < u.End; start = out[len(out)-1].end {
			stop := min(u.End, start+maxUnit)
			for stop < u.End && stop > start+maxUnit/2 && !utf8.RuneStart(s[stop]) {
				stop--
			}
			out = append(out, unit{start: start, end: stop})
		}
	}
	return introduced(s, out)
}

// introduced fills in headings, leads, rows and list items of the units.
func introduced(s string, units []unit) []unit {
	heading, lead := 0, 0
	for i := range units {
		u := &units[i]
		line := strings.LastIndexByte(s[:u.start], '\n') + 1
		mark := strings.TrimSpace(s[line:u.start])
		u.row = strings.Contains(s[u.start:u.end], "|")
		u.item = !u.row && mark != "" && !strings.HasPrefix(mark, "#") && !strings.ContainsFunc(mark, unicode.IsLetter)
		if strings.HasPrefix(mark, "#") {
			heading, u.level = i, strings.Count(mark, "#")
		}
		u.heading, u.lead = heading, heading
		if u.row || u.item {
			u.lead = lead
		} else {
			lead = i
		}
	}
	return units
}

// words returns the search index of the units.
func (d *document) words() *text.Index {
	if d.index == nil {
		docs := make([]text.Document, len(d.units))
		for i, u := range d.units {
			docs[i].Text = d.Text[u.start:u.end]
		}
		d.index = text.NewIndex(docs)
	}
	return d.index
}

// ranked returns up to most units that share a word with the query, best first.
func (d *document) ranked(query string, most int) []int {
	scores := d.words().BM25(query)
	var found []int
	for i, s := range scores {
		if s > 0 {
			found = append(found, i)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return found[:min(len(found), most)]
}

// unitAt returns the unit that contains a byte of the text, or the one before it.
func (d *document) unitAt(at int) int {
	i, found := slices.BinarySearchFunc(d.units, at, func(u unit, at int) int { return u.start - at })
	if !found {
		i--
	}
	return max(0, i)
}

// Passages returns the passages of the sources with these IDs that are relevant to a sentence: the quotes with their
// surroundings, and the best passages by BM25, only one for a source with quotes. A passage consists of whole blocks if
// they fit in limit. Passages are in order of relevance and may overlap. A source not much longer than limit is
// returned whole. Every other source gets its quotes and its best passage; its further passages share the rest of
// limit times the number of sources.
func (c *Corpus) Passages(sentence string, ids []string, quotes []Span, limit int) []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	docs := c.documents(ids)
	left := limit * len(docs)
	var out []Span
	shown := map[string]bool{} // sources with a passage
	take := func(d *document, s Span) {
		within := func(o Span) bool { return o.Source == s.Source && o.Start <= s.Start && s.End <= o.End }
		tooLong := shown[d.ID] && s.End-s.Start > left
		if tooLong || slices.ContainsFunc(out, within) || strings.TrimSpace(d.Text[s.Start:s.End]) == "" {
			return
		}
		out = append(out, s)
		shown[d.ID] = true
		left -= s.End - s.Start
	}
	for _, d := range docs {
		if len(d.units) > 0 && len(d.Text) <= WholeLimits*limit { // a cut often removes the header of a table
			take(d, Span{d.ID, d.units[0].start, d.units[len(d.units)-1].end})
		}
	}
	var quoted []Span // sentences of the quotes, without their surroundings
	for _, q := range quotes {
		for _, d := range docs {
			stands := q.Start >= 0 && q.Start < q.End && q.End <= len(d.Text)
			if d.ID == q.Source && stands && len(d.units) > 0 {
				first, last := d.unitAt(q.Start), d.unitAt(q.End-1)
				take(d, d.around(first, last, limit))
				if own := (Span{d.ID, d.units[first].start, d.units[last].end}); own.End-own.Start <= limit {
					quoted = append(quoted, own)
				}
			}
		}
	}
	sentence = plain(sentence)
	rankings := make([][]int, len(docs))
	for i, d := range docs {
		most := mostPassages
		if shown[d.ID] { // by its quotes
			most = 1
		}
		rankings[i] = d.ranked(sentence, most)
	}
	for n := range mostPassages { // the best of each source, then the second
		for i, d := range docs {
			if n < len(rankings[i]) {
				take(d, d.around(rankings[i][n], rankings[i][n], limit))
			}
		}
	}
	return append(out, quoted...)
}

// around returns the whole blocks of some units and their neighbours, because half a paragraph, list or table can
// mislead. If these exceed limit, it returns the blocks of the units alone, else the sentences.
func (d *document) around(first, last, limit int) Span {
	from, to := max(0, first-1), min(len(d.units)-1, last+1)
	sentences := Span{d.ID, d.units[from].start, d.units[to].end}
	for _, s := range []Span{sentences, {d.ID, d.units[first].start, d.units[last].end}} {
		for _, b := range d.paragraphs() {
			if b.Start < s.End && s.Start < b.End {
				s.Start, s.End = min(s.Start, b.Start), max(s.End, b.End)
			}
		}
		if s.End-s.Start <= limit {
			return s
		}
	}
	return sentences
}

// WholeLimits is the length, in limits, up to which a source is shown whole. A passage of a knowledge base is.
const WholeLimits = 2

// mostPassages is the maximum number of ranked passages of one source.
const mostPassages = 4

// Numbered returns the text of a span with a mark before each sentence and row. A fragment that is too short to prove
// anything, such as a heading of one word, shares a mark with what follows it. mark: called in order with their places.
func (c *Corpus) Numbered(s Span, mark func(Span) string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []Span
	short := false // the last of lines is a fragment
	for _, d := range c.documents([]string{s.Source}) {
		for _, u := range d.units {
			start, end := max(u.start, s.Start), min(u.end, s.End)
			if start >= end {
				continue
			}
			if !short {
				lines = append(lines, Span{Source: d.ID, Start: start})
			}
			last := &lines[len(lines)-1]
			last.End = last.Start + len(strings.TrimRight(d.Text[last.Start:end], " \t\n"))
			short = wordsOf(c.Text(*last)) < minQuote
		}
	}
	if n := len(lines) - 1; short && n > 0 {
		lines[n-1].End = lines[n].End
		lines = lines[:n]
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(c.Text(Span{s.Source, s.Start, line.Start}) + mark(line) + c.Text(line))
		s.Start = line.End
	}
	return b.String() + c.Text(s)
}

// smallGap is the length of a gap between two spans that is included, because an ellipsis is hardly shorter.
const smallGap = 120

// Merge joins spans that overlap or have a small gap between them. Sources keep the order of their first span, and the
// spans of a source are sorted by position. Merge may reorder its argument.
func Merge(spans []Span) []Span {
	order := map[string]int{}
	for _, s := range spans {
		if _, known := order[s.Source]; !known {
			order[s.Source] = len(order)
		}
	}
	slices.SortFunc(spans, func(a, b Span) int {
		return cmp.Or(order[a.Source]-order[b.Source], a.Start-b.Start, a.End-b.End)
	})
	var out []Span
	for _, s := range spans {
		if n := len(out) - 1; n >= 0 && out[n].Source == s.Source && s.Start <= out[n].End+smallGap {
			out[n].End = max(out[n].End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out
}

// mostly is the share of a source above which all of it is shown. The small rest costs less than judging a sentence
// without it, for example without the name in a letterhead or a clause between two passages.
const mostly = 0.75

// Filled extends merged spans to the whole source where they already cover most of it.
func (c *Corpus) Filled(spans []Span) []Span {
	shown := map[string]int{} // bytes of each source
	for _, s := range spans {
		shown[s.Source] += s.End - s.Start
	}
	var out []Span
	for _, s := range spans {
		whole := Span{Source: s.Source, End: len(c.sources[s.Source].Text)}
		switch n := len(out) - 1; {
		case float64(shown[s.Source]) < mostly*float64(whole.End):
			out = append(out, s)
		case n < 0 || out[n] != whole:
			out = append(out, whole)
		}
	}
	return out
}
