package report

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/text"
)

// Escape returns inline Markdown that shows exactly this text on one line.
func Escape(s string) string { return markdown.Escape(s) }

// Style says how a report is shown as Markdown.
type Style struct {
	Bundle     string // path of the run's data from the report, "../cache/<run>/"
	Marked     string // shown behind a marked statement: "unsupported"
	References string // heading of the references
}

// anchor returns the fragment of the address of a reference.
func anchor(label string) string { return "ref-" + strings.ToLower(label) }

// Markdown renders a report. Each citation leads to its reference. The title of a report of another program stands in
// its blocks.
func (r Report) Markdown(style Style) string {
	labels := r.Labels()
	w := writer{style: style, cite: func(id string) string {
		label, ok := labels[id]
		if !ok {
			return ""
		}
		return "[[" + label + "](#" + anchor(label) + ")]"
	}}
	if r.Title != "" {
		w.block("# " + Escape(r.Title))
	}
	w.sections(r.Sections, r.Status)
	if len(r.References) > 0 {
		w.block("## " + style.References)
		for _, ref := range r.References {
			w.block(ref.markdown())
		}
	}
	if len(r.Imprint) > 0 {
		w.block("---")
		w.block(strings.Join(r.Imprint, "\n\n"))
	}
	return w.out.String() + "\n"
}

// Body renders the sections of a report with citations as cite shows them; nil: without citations.
func (r Report) Body(cite func(id string) string) string {
	if cite == nil {
		cite = func(string) string { return "" }
	}
	w := writer{cite: cite}
	w.sections(r.Sections, nil)
	return w.out.String()
}

// sections renders sections, and status below the answer.
func (w *writer) sections(sections []Section, status []string) {
	for _, s := range sections {
		if s.Title != "" {
			w.block("## " + Escape(s.Title))
		}
		w.blocks(s.Blocks)
		if s.Role == RoleChanges {
			w.block("---")
		}
		if s.Role == RoleAnswer && len(status) > 0 {
			w.block("> " + strings.Join(status, "  \n> "))
		}
	}
}

// markdown renders a reference. The anchor of each entry is an HTML element, because Markdown has none.
func (ref Reference) markdown() string {
	var lines []string
	if ref.About != "" {
		lines = append(lines, ref.About)
	}
	for _, e := range ref.Entries {
		lines = append(lines, strings.TrimRight(`<a id="`+e.Anchor()+`"></a> [`+e.Label+"] "+e.Text, " "))
	}
	return strings.Join(lines, "  \n") // two spaces: a line break within the paragraph
}

// canonical shows a citation as its marker.
func canonical(id string) string { return "[" + id + "]" }

// Canonical renders blocks as Markdown with canonical markers, as Parse reads them and models see them.
func Canonical(blocks []Block) string {
	w := writer{cite: canonical}
	w.blocks(blocks)
	return w.out.String()
}

// writer renders blocks as Markdown.
type writer struct {
	style Style
	cite  func(id string) string
	out   strings.Builder
}

// block adds a block after a blank line.
func (w *writer) block(lines string) {
	if w.out.Len() > 0 {
		w.out.WriteString("\n\n")
	}
	w.out.WriteString(lines)
}

func (w *writer) blocks(blocks []Block) {
	for _, b := range blocks {
		w.block(w.render(b))
	}
}

// render renders a block; its lines are not indented.
func (w *writer) render(b Block) string {
	switch b.Kind {
	case KindHeading:
		return strings.Repeat("#", b.Level) + " " + w.sentences(b.Sentences)
	case KindCode:
		fence := "```"
		for strings.Contains(b.Code, fence) {
			fence += "`"
		}
		return fence + b.Language + "\n" + b.Code + "\n" + fence
	case KindQuote:
		return "> " + strings.ReplaceAll(w.inner(b.Blocks), "\n", "\n> ")
	case KindExcerpt:
		return w.inner(b.Quoted())
	case KindList:
		return w.list(b)
	case KindTable:
		return w.table(b)
	case KindFigure:
		return strings.TrimSuffix("!["+Escape(b.Title)+"]("+w.style.Bundle+b.Picture+")\n\n*"+w.sentences(b.Sentences)+
			"* "+w.cite(b.Citation), "\n\n** ")
	}
	return guarded(w.sentences(b.Sentences))
}

// inner renders blocks on their own.
func (w *writer) inner(blocks []Block) string {
	in := writer{style: w.style, cite: w.cite}
	in.blocks(blocks)
	return in.out.String()
}

func (w *writer) list(b Block) string {
	var items []string
	loose := false
	for n, item := range b.Items {
		mark := "- "
		if b.Ordered {
			mark = strconv.Itoa(b.Start+n) + ". "
		}
		pad := strings.Repeat(" ", len(mark))
		in := writer{style: w.style, cite: w.cite}
		for i, block := range item {
			if i > 0 && block.Kind == KindList { // a list directly below its item
				in.out.WriteString("\n" + in.render(block))
				continue
			}
			loose = loose || i > 0
			in.block(in.render(block))
		}
		items = append(items, mark+strings.ReplaceAll(in.out.String(), "\n", "\n"+pad))
	}
	between := "\n"
	if loose {
		between = "\n\n"
	}
	return trimmedLines(strings.Join(items, between))
}

// trimmedLines removes the indentation of empty lines.
func trimmedLines(s string) string { return blankLine.ReplaceAllString(s, "\n\n") }

var blankLine = regexp.MustCompile(`\n[ ]+\n`)

func (w *writer) table(b Block) string {
	var lines []string
	for n, r := range b.Rows {
		cells := make([]string, len(r.Cells))
		for i, c := range r.Cells {
			if i == len(r.Cells)-1 && r.State == StateMarked {
				c.State = StateMarked
			}
			cells[i] = w.sentences([]Sentence{c})
		}
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
		if n == 0 {
			rule := "|"
			for i := range max(len(r.Cells), len(b.Align)) {
				side := ""
				if i < len(b.Align) {
					side = b.Align[i]
				}
				rule += map[string]string{"": " --- |", "left": " :--- |", "right": " ---: |", "center": " :---: |"}[side]
			}
			lines = append(lines, rule)
		}
	}
	return strings.Join(lines, "\n")
}

// sentences joins sentences to a paragraph.
func (w *writer) sentences(list []Sentence) string {
	var b strings.Builder
	for i, s := range list {
		written := s.render(w.cite)
		if s.State == StateMarked && w.style.Marked != "" {
			written += ` \[` + w.style.Marked + `\]`
		}
		if i > 0 && written != "" {
			b.WriteString(Between(list[i-1].Text, s.Text))
		}
		b.WriteString(written)
	}
	return b.String()
}

// Between returns what stands between two sentences of a paragraph: nothing in a script without spaces.
func Between(before, after string) string {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	if wide(last) && (wide(first) || after == "") {
		return ""
	}
	return " "
}

func wide(r rune) bool {
	return text.Wide(r) || strings.ContainsRune("。！？；：、，」』）》", r)
}

// Markdown returns a sentence with its citations, as cite shows them.
func (s Sentence) Markdown(cite func(id string) string) string { return guarded(s.render(cite)) }

// render returns a sentence with its citations. Citations with the same label are shown once in a place.
func (s Sentence) render(cite func(id string) string) string {
	var b strings.Builder
	at, last := 0, ""
	for _, c := range s.Cites {
		marker := cite(c.ID)
		if marker == "" || at == c.At && strings.Contains(last, marker) {
			continue
		}
		if at != c.At || last == "" {
			b.WriteString(s.Text[at:c.At])
			if before, _ := utf8.DecodeLastRuneInString(s.Text[:c.At]); c.At > 0 && !wide(before) {
				b.WriteByte(' ')
			}
			at, last = c.At, ""
		}
		b.WriteString(marker)
		last += marker
	}
	if at == 0 && last != "" && s.Text != "" { // the sentence begins with a marker
		b.WriteByte(' ')
	}
	b.WriteString(s.Text[at:])
	return b.String()
}

// opensBlock matches the start of a paragraph that Markdown would read as another block.
var opensBlock = regexp.MustCompile(`^(?:#{1,6}(?:\s|$)|[-+*](?:\s|$)|>|~~~|=+\s*$|-{3,}\s*$|\d{1,9}[.)](?:\s|$))`)

// guarded escapes the start of a paragraph that begins in the middle of a former one.
func guarded(paragraph string) string {
	m := opensBlock.FindString(paragraph)
	if m == "" {
		return paragraph
	}
	at := strings.IndexAny(m, "#-+*>~=.)")
	return paragraph[:at] + `\` + paragraph[at:]
}
