package reporting

import (
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
)

// withHeadings restores missing subsection headings, each before the first paragraph that cites mainly the subsection's
// claims. If the paragraphs of a subsection are not consecutive, or the text has such headings, it returns the text
// unchanged.
func (w sectionWriter) withHeadings(body string, s sectionPlan) string {
	if len(s.Subsections) == 0 {
		return body
	}
	all := paragraphs(body)
	var parts []int // subsection of each paragraph
	for _, p := range all {
		if p.heading && headingOf(p.text, s) > 0 {
			return body // the writer set headings
		}
		parts = append(parts, w.partOf(p.text, s))
	}
	first := map[int]int{} // first paragraph of each subsection
	last := 0
	for i, part := range parts {
		if part == 0 || part == last {
			continue
		}
		if _, again := first[part]; again {
			return body
		}
		first[part], last = i, part
	}
	var out []string
	for i, p := range all {
		for part, at := range first {
			if at == i {
				out = append(out, "### "+citation.Escape(s.Subsections[part-1].Title))
			}
		}
		out = append(out, p.text)
	}
	return strings.Join(out, "\n\n")
}

// headingOf returns the subsection that a heading names, counted from 1; 0: none.
func headingOf(line string, s sectionPlan) int {
	title := strings.TrimLeft(line, "# ")
	for i, p := range s.Subsections {
		if sameTitle(title, p.Title) {
			return i + 1
		}
	}
	return 0
}

// partOf returns the subsection that more than half of a paragraph's citations belong to; 0: none.
func (w sectionWriter) partOf(paragraph string, s sectionPlan) int {
	cited := w.citedIn(paragraph)
	count := make([]int, len(s.Subsections)+1)
	for _, id := range cited {
		part := map[int]bool{}
		for _, c := range s.claims {
			if c.CitationID == id {
				part[c.part] = true
			}
		}
		for p := range part {
			count[p]++
		}
	}
	for p := range slices.Backward(count) {
		if p > 0 && 2*count[p] > len(cited) {
			return p
		}
	}
	return 0
}
