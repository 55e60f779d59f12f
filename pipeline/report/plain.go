package report

import (
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/text"
)

// Plain returns the Markdown of blocks on one line, without citations.
func Plain(blocks []Block) string {
	w := writer{cite: func(string) string { return "" }}
	w.blocks(blocks)
	return text.Line(w.out.String())
}

// Text returns inline Markdown as a reader sees it.
func Text(inline string) string {
	source := []byte(guarded(inline))
	var b strings.Builder
	for n := parser.Parse(source).FirstChild(); n != nil; n = n.NextSibling() {
		b.WriteString(markdown.Inline(n, source))
	}
	return text.Line(b.String())
}

// Lines returns the text of sections as a reader sees it: each line is a sentence, a heading, a row of a table, or a
// line of code.
func (r Report) Lines() (lines []string) {
	add := func(s string) {
		if s = text.Line(s); s != "" {
			lines = append(lines, s)
		}
	}
	for _, s := range r.Sections {
		add(s.Title)
		EachBlock(s.Blocks, func(b *Block) {
			for _, s := range b.Sentences { // one of an excerpt is a whole paragraph
				for _, one := range text.ParagraphSentences(Text(s.Text)) {
					add(one.Text)
				}
			}
			for _, row := range b.Rows {
				add(row.shown(func(c Sentence) string { return Text(c.Text) }))
			}
			for line := range strings.Lines(b.Code) {
				add(line)
			}
		})
	}
	return lines
}

// Without returns the report without the sections of a role.
func (r Report) Without(role string) Report {
	r.Sections = slices.DeleteFunc(slices.Clone(r.Sections), func(s Section) bool { return s.Role == role })
	return r
}

// MarkNew marks the statements of a report whose words stand in no statement of the report before it.
func (r Report) MarkNew(before Report) {
	said := map[string]bool{}
	each := func(r Report, yield func(Statement)) {
		for _, s := range r.Sections {
			if s.Role != RoleChanges {
				EachStatement(s.Blocks, yield)
			}
		}
	}
	each(before, func(s Statement) { said[Key(s.Text())] = true })
	each(r, func(s Statement) { s.New = !said[Key(s.Text())] })
}

// Key returns the words of a text: two texts with the same words have the same key.
func Key(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ")
}

// CountWords counts the words of Markdown without citations. A Chinese or Japanese character counts as one word.
func CountWords(markdown string) int {
	n, inWord := 0, false
	for _, r := range markdown {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			n++
			inWord = false
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			if !inWord {
				n++
			}
			inWord = true
		case unicode.IsSpace(r) || r == '|' || r == '/':
			inWord = false
		}
	}
	return n
}

// Words counts the words of blocks.
func Words(blocks []Block) int { return CountWords(Plain(blocks)) }
