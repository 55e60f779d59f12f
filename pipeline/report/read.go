package report

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"nightdesk/pipeline/markdown"
)

// entryLine matches the line of a reference.
var entryLine = regexp.MustCompile(`^<a id="ref-[a-z0-9-]+"></a> \[([^\[\]]+)\] ?(.*)$`)

// Read reads the Markdown of a report that was written before reports were stored as values. Its citations have the
// labels of the references as ids; it tells nothing about checks.
func Read(source string) Report {
	r := Report{Format: Format}
	in := reader{source: []byte(source), shown: true}
	doc := parser.Parse(in.source)
	section := Section{Role: RoleAnswer}
	end := func() {
		if section.Title != "" || len(section.Blocks) > 0 {
			r.Sections = append(r.Sections, section)
		}
	}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, heading := n.(*ast.Heading)
		first := len(r.Sections) == 0 && section.Title == "" && len(section.Blocks) == 0
		alone := n.ChildCount() == 1 && n.FirstChild().Kind() == ast.KindParagraph
		begun := !first || r.Title == "" || len(r.Status) > 0
		head := n.Kind() == ast.KindBlockquote && alone && !begun
		switch {
		case heading && h.Level == 1 && first && r.Title == "":
			r.Title = markdown.Inline(h, in.source)
		case heading && h.Level <= 2:
			end()
			section = Section{Role: RoleSection, Title: markdown.Inline(h, in.source)}
		case head: // topic, run and result of the check
			for line := range strings.Lines(markdown.Lines(n.FirstChild(), in.source)) {
				r.Status = append(r.Status, strings.TrimSpace(line))
			}
		case n.Kind() == ast.KindThematicBreak && len(r.Sections) == 0 && section.Title != "": // below what changed
			section.Role = RoleChanges
			end()
			section = Section{Role: RoleAnswer}
		case n.Kind() == ast.KindParagraph && r.reference(markdown.Lines(n, in.source)):
		case n.Kind() == ast.KindParagraph && len(r.References) > 0:
			r.Imprint = append(r.Imprint, in.lines(n))
		default:
			section.Blocks = append(section.Blocks, in.block(n)...)
		}
	}
	end() // a section without text is that of the references
	r.Sections = slices.DeleteFunc(r.Sections, func(s Section) bool { return len(s.Blocks) == 0 })
	return r
}

// reference takes a paragraph of the references; false if it is none.
func (r *Report) reference(paragraph string) bool {
	ref := Reference{}
	for line := range strings.Lines(paragraph) {
		line = strings.TrimSpace(line)
		m := entryLine.FindStringSubmatch(line)
		switch {
		case m != nil:
			ref.Entries = append(ref.Entries, Entry{IDs: []string{m[1]}, Label: m[1], Text: m[2]})
		case len(ref.Entries) > 0:
			ref.Entries[len(ref.Entries)-1].Text += " " + line
		default:
			ref.About = strings.TrimSpace(ref.About + " " + line)
		}
	}
	if len(ref.Entries) > 0 {
		r.References = append(r.References, ref)
	}
	return len(ref.Entries) > 0
}
