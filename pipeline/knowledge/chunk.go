package knowledge

import (
	"slices"
	"strings"
	"unicode/utf8"

	"nightdesk/pipeline/knowledge/extract"
)

// Sizes of passages in bytes. English prose has about 6.4 bytes a word: wanted are about 200 words.
const (
	passageSize = 1300
	passageMax  = 1800
)

// chunk is a passage before it has a place in a base.
type chunk struct {
	section int // index into Document.Sections
	page    int
	offset  int
	text    string // Document.Text[offset : offset+len(text)]
}

// chunks cuts a document into passages. A passage lies within one section and begins and ends with whole paragraphs,
// list items, code blocks and table rows; only what is larger than a passage is cut, between sentences.
func chunks(doc extract.Document) []chunk {
	var out []chunk
	for i, s := range doc.Sections {
		end := len(doc.Text)
		if i+1 < len(doc.Sections) {
			end = doc.Sections[i+1].Offset
		}
		for _, span := range cut(units(doc.Text, s.Offset, end)) {
			out = append(out, chunk{section: i, page: pageAt(doc.Pages, span.start), offset: span.start, text: doc.Text[span.start:span.end]})
		}
	}
	return out
}

// pageAt returns the page, counted from 1, that holds an offset; 0 for a document without pages.
func pageAt(pages []int, offset int) int {
	// The first page that begins behind the offset: pages without text begin where the next one does.
	n, _ := slices.BinarySearch(pages, offset+1)
	return n
}

// unit is something that should stay whole.
type unit struct {
	start, end int
	lead       bool // it belongs to what follows: a term, a caption, "as follows:"
	item       bool // a named item begins here, "Table 2. Limits": best at the start of a passage
}

// units cuts text[start:end] into paragraphs, list items, table rows and fenced blocks.
func units(text string, start, end int) []unit {
	var out []unit
	add := func(from, to int) {
		part := text[from:to]
		from += len(part) - len(strings.TrimLeft(part, "\n"))
		to -= len(part) - len(strings.TrimRight(part, "\n"))
		if from >= to {
			return
		}
		if to-from > passageMax {
			for _, p := range pieces(text, from, to) {
				out = append(out, unit{start: p.start, end: p.end})
			}
			return
		}
		out = append(out, unit{start: from, end: to, lead: leads(text[from:to]), item: isItem(text[from:to])})
	}
	from, fence := start, ""
	for at := start; at < end; {
		stop := end
		if i := strings.IndexByte(text[at:end], '\n'); i >= 0 {
			stop = at + i + 1
		}
		line := strings.TrimSuffix(text[at:stop], "\n")
		switch {
		case fence != "":
			if line == fence {
				add(from, stop)
				from, fence = stop, ""
			}
		case strings.HasPrefix(line, "```"):
			add(from, at)
			from, fence = at, line
		default: // outside code every line is a unit of its own: a paragraph, an item, a row
			add(from, stop)
			from = stop
		}
		at = stop
	}
	add(from, end)
	return out
}

// leads reports whether a paragraph introduces the next one.
func leads(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	if last == ':' || last == '：' {
		return true
	}
	switch text[0] {
	case '|', '`', '-':
		return false
	}
	return len(text) < 120 && !strings.ContainsRune(".!?。！？;”\"", last)
}

// pieces cuts what is too long for a passage: after sentences, else at white space, else between characters.
func pieces(text string, start, end int) []unit {
	var out []unit
	for end-start > passageMax {
		window := text[start : start+passageMax]
		at := -1
		for _, mark := range []string{". ", "! ", "? ", "。", "！", "？", "\n", "; ", " "} {
			if i := strings.LastIndex(window, mark); i > passageMax/3 {
				at = i + len(strings.TrimRight(mark, " \n"))
				break
			}
		}
		if at < 0 {
			for at = passageMax; !utf8.RuneStart(text[start+at]); at-- {
			}
		}
		out = append(out, unit{start: start, end: start + at})
		start += at
		for start < end && (text[start] == ' ' || text[start] == '\n') {
			start++
		}
	}
	if start < end {
		out = append(out, unit{start: start, end: end})
	}
	return out
}

// cut groups the units of one section into passages of about equal size.
func cut(all []unit) []unit {
	if len(all) == 0 {
		return nil
	}
	end := all[len(all)-1].end
	var out []unit
	now, want := all[0], share(end-all[0].start)
	begin := func(start, stop int) {
		out = append(out, now)
		now, want = unit{start: start, end: stop}, share(end-start)
	}
	for i, u := range all[1:] {
		before := all[i] // the unit before u
		have, more := now.end-now.start, u.end-now.start
		switch {
		case before.lead && more > passageMax && before.start > now.start && u.end-before.start <= passageMax:
			now.end = all[i-1].end // the lead goes with what it leads to
			begin(before.start, u.end)
		case more > passageMax, u.item && have >= passageSize/4, more-want > want-have && !before.lead:
			begin(u.start, u.end)
		default:
			now.end = u.end
		}
	}
	return append(out, now)
}

// share returns the size of each passage when size bytes are cut evenly.
func share(size int) int { return size / ((size + passageSize - 1) / passageSize) }
