package citation

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentence is one sentence of a verified report, or row of a table, with what it cites.
type Sentence struct {
	Text      string // without markers and markup of links; white space folded; cells of a row are parted by " | "
	Head      string // of a row: the cells of the table's head, as in Text
	Start     int    // bytes into the report; report[Start:End] is the sentence as it stands there, with its markers
	End       int
	Citations []int    // numbers of Valid, in order, each once
	Sources   []int    // positions in Registry.Sources, in order, each once
	IDs       []string // citation ids, of a report that cites by ids
}

// sentences cuts a verified report into the sentences that cite something.
func (t *reading) sentences(valid []Valid) []Sentence {
	report := t.text
	byNumber, byID := map[int]*Valid{}, map[string]*Valid{}
	for i := range valid {
		if v := &valid[i]; v.ID != "" {
			byID[v.ID] = v
		} else if byNumber[v.ReportNumber] == nil {
			byNumber[v.ReportNumber] = v
		}
	}
	if len(valid) == 0 {
		return nil
	}
	var skip []span // the lists of references
	for _, s := range t.lists() {
		if s.start >= 0 {
			skip = append(skip, span{s.start, s.end})
		}
		for _, e := range s.entries {
			skip = append(skip, span{e.start, e.end})
		}
	}
	var out []Sentence
	var seen map[int]bool // numbers that the sentence has
	cited := func(s *Sentence, g group) {
		if len(s.Citations) == 0 {
			seen = map[int]bool{}
		}
		add := func(v *Valid) {
			if v != nil && !seen[v.Number] {
				seen[v.Number] = true
				s.Citations, s.Sources = append(s.Citations, v.Number), append(s.Sources, v.Source)
				if v.ID != "" {
					s.IDs = append(s.IDs, v.ID)
				}
			}
		}
		for _, id := range g.ids {
			add(byID[id.String()])
		}
		for _, n := range g.numbers {
			add(byNumber[n])
		}
	}
	cut := func(p span) []Sentence {
		w := &walker{text: report[p.start:p.end], markerEnd: -1}
		isMarker := func(at int, g group) bool {
			at, g.end = at-p.start, g.end-p.start
			known := true
			for _, n := range g.numbers {
				known = known && byNumber[n] != nil
			}
			is := len(g.ids) > 0 || known && w.isCitation(at, g)
			if is {
				w.markerEnd = g.end
			}
			return is
		}
		return sentencesOf(report, p, spansWithin(t.code, p.start, p.end), isMarker, cited)
	}
	var head Sentence
	for _, p := range t.proseBlocks(skip) {
		switch p.part {
		case tableHead:
			head = joinCells(report, p.span, cut)
			continue
		case tableRow:
			row := joinCells(report, p.span, cut)
			if p.headed {
				row.Head = head.Text
				row.cites(head)
			}
			if row.Text != "" && len(row.Citations) > 0 {
				out = append(out, row)
			}
			continue
		}
		for _, s := range cut(p.span) {
			if s.Text != "" && len(s.Citations) > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

// proseBlock is a part of a text that is cut into sentences.
type proseBlock struct {
	span
	part   int
	headed bool // a row of a table with a head
}

// The parts: paragraphs and list items, and those of tables.
const (
	prose = iota
	tableHead
	tableRow
)

// proseBlocks returns the paragraphs, list items and table rows of a text: no headings, no code, nothing to skip.
func (t *reading) proseBlocks(skip []span) []proseBlock {
	var blocks []proseBlock
	open, headed := -1, false
	flush := func(end int) {
		if open >= 0 && open < end {
			blocks = append(blocks, proseBlock{span: span{open, end}})
		}
		open = -1
	}
	slices.SortFunc(skip, func(a, b span) int { return a.start - b.start })
	for i, l := range t.all {
		for len(skip) > 0 && skip[0].end < l.start {
			skip = skip[1:]
		}
		line := l.of(t.text)
		body := strings.TrimLeft(line, " \t>")
		headed = headed && body != "" && body[0] == '|'
		switch {
		case l.code || body == "" || isATXHeading(line) || underline.MatchString(line) || len(skip) > 0 &&
			skip[0].start <= l.start && l.start <= skip[0].end:
			flush(l.start)
		case body[0] == '|':
			flush(l.start)
			b := proseBlock{span{l.start, l.end}, tableRow, headed}
			if i+1 < len(t.all) && tableRule.MatchString(t.all[i+1].of(t.text)) {
				b.part, headed = tableHead, true
			}
			if !tableRule.MatchString(line) {
				blocks = append(blocks, b)
			}
		case isListItem(body):
			flush(l.start)
			open = l.end - len(body) + strings.IndexByte(body, ' ') + 1
		case open < 0:
			open = l.end - len(body)
		}
	}
	flush(len(t.text))
	return blocks
}

// abbreviations do not end a sentence.
var abbreviations = []string{"e.g", "i.e", "etc", "vs", "cf", "dr", "mr", "mrs", "ms", "prof", "st", "no", "fig",
	"figs", "eq", "al", "approx",
	"inc", "ltd", "co", "corp", "dept", "est", "vol", "pp", "p", "u.s", "u.k", "z.b", "d.h", "bzw", "ca", "nr", "mio",
	"mrd", "tsd", "vgl", "abb", "kap", "pág", "núm", "тыс", "млн", "млрд", "стр", "jan", "feb", "mar", "apr", "jun", "jul",
	"aug", "sep", "sept", "oct", "nov", "dec"}

// sentencesOf cuts a block. Markers behind the end of a sentence belong to it.
func sentencesOf(text string, block span, code []span, isMarker func(at int, g group) bool,
	cited func(*Sentence, group)) []Sentence {
	var out []Sentence
	var words strings.Builder
	cur := Sentence{Start: -1}
	ended := false
	flush := func(end int) {
		if cur.Text = strings.TrimSpace(fold(words.String())); cur.Text != "" || len(cur.Citations) > 0 {
			cur.Text = spaceBefore.Replace(cur.Text)
			cur.End = end
			out = append(out, cur)
		}
		words.Reset()
		cur, ended = Sentence{Start: -1}, false
	}
	last := block.start // end of what belongs to the sentence
	for i := block.start; i < block.end; {
		for len(code) > 0 && block.start+code[0].end <= i {
			code = code[1:]
		}
		if len(code) > 0 && block.start+code[0].start <= i {
			end := block.start + code[0].end
			if ended {
				flush(last)
			}
			if cur.Start < 0 {
				cur.Start = i
			}
			words.WriteString(text[i:end])
			i, last = end, end
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:block.end])
		if closingBracket(r) != 0 {
			if g, ok := parseGroup(text[:block.end], i, 0); ok && isMarker(i, g) {
				cited(&cur, g)
				if cur.Start < 0 {
					cur.Start = i
				}
				i, last = g.end, g.end
				continue
			}
		}
		switch {
		case unicode.IsSpace(r):
			words.WriteByte(' ')
			i += size
			continue
		case ended:
			flush(last)
		}
		if cur.Start < 0 {
			cur.Start = i
		}
		words.WriteString(text[i : i+size])
		i += size
		last = i
		ended = endsSentence(text[block.start:block.end], i-block.start, r)
		for ended && i < block.end { // quotes and brackets behind the full stop
			q, n := utf8.DecodeRuneInString(text[i:block.end])
			if !strings.ContainsRune("\"'”’»)）」*_", q) {
				break
			}
			words.WriteString(text[i : i+n])
			i += n
			last = i
		}
	}
	flush(last)
	return out
}

var spaceBefore = strings.NewReplacer(" .", ".", " ,", ",", " ;", ";", " :", ":", " !", "!", " ?", "?", " 。",
	"。", " ，", "，")

// endsSentence reports whether the rune r, which ends at i, ends a sentence.
func endsSentence(block string, i int, r rune) bool {
	switch r {
	case '。', '！', '？':
		return true
	case '.', '!', '?':
	default:
		return false
	}
	rest := strings.TrimLeft(block[i:], "\"'”’»)*_")
	if rest != "" && !unicode.IsSpace(rune(rest[0])) && rest[0] != '[' && !strings.HasPrefix(rest, "【") {
		return false
	}
	if r != '.' {
		return true
	}
	before := block[max(0, i-20) : i-1]
	word := strings.ToLower(before[strings.LastIndexAny(before, " (\n")+1:])
	return !slices.Contains(abbreviations, word) && !(len(word) == 1 && word[0] >= 'a' && word[0] <= 'z') &&
		!dayOfMonth(word, rest)
}

var germanMonths = []string{"Januar", "Jänner", "Februar", "März", "April", "Mai", "Juni", "Juli", "August",
	"September", "Oktober", "November", "Dezember"}

// dayOfMonth reports the full stop of a German date: am 3. Oktober.
func dayOfMonth(day, rest string) bool {
	if len(day) == 0 || len(day) > 2 || strings.Trim(day, "0123456789") != "" {
		return false
	}
	rest = strings.TrimLeft(rest, " \u00a0\n")
	return slices.ContainsFunc(germanMonths, func(month string) bool { return strings.HasPrefix(rest, month) })
}
