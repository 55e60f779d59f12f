package document

import (
	"regexp"
	"slices"
	"strings"
)

// titleHeadings returns the number of leading headings that form the document's title.
func (b *Builder) titleHeadings(title string) int {
	switch {
	case len(b.heads) > 1 && title == b.heads[0].text+": "+b.heads[1].text:
		return 2
	case len(b.heads) > 0 && (strings.EqualFold(title, b.heads[0].text) || strings.HasPrefix(title, b.heads[0].text+": ")):
		return 1
	}
	return 0
}

// title derives the title from the structure of a document. Candidates, in order: the only heading of level 1; the only
// heading of the highest level, if the document begins with it; a first line that stands alone; the first of several
// level-1 headings with at most maxHeadLine bytes before it, unless they are numbered sections. Without a candidate,
// title returns "".
func (b *Builder) title(s Metadata) string {
	tops := b.topHeadings()
	switch {
	case len(tops) == 1 && (tops[0].level == 1 || tops[0] == b.heads[0] && tops[0].at == 0):
		title := tops[0].text + b.subtitle(tops[0])
		if title == b.heads[0].text && s.below != "" && len(b.heads) > 1 {
			title += ": " + s.below
		}
		return title
	case b.opening != "" && len(b.opening) < b.buf.Len() && isTitle(b.opening):
		return b.opening
	case len(tops) > 1 && tops[0].level == 1 && tops[0].at <= maxHeadLine && !numberedRow(tops):
		if len(tops) == 2 && tops[0] == b.heads[0] && tops[1] == b.heads[1] { // a masthead
			return tops[0].text + ": " + tops[1].text
		}
		return tops[0].text
	}
	return ""
}

// subtitle returns the part of the title that follows the top heading: the only heading of the next level, if it
// directly follows and all other headings are below it. An example is an agency name above the name of a report.
func (b *Builder) subtitle(top head) string {
	i := slices.Index(b.heads, top) + 1
	if i >= len(b.heads) || b.heads[i].at != top.at || b.heads[i].level != top.level+1 {
		return ""
	}
	lower := func(h head) bool { return h.level > b.heads[i].level }
	if rest := b.heads[i+1:]; len(rest) == 0 || slices.ContainsFunc(rest, func(h head) bool { return !lower(h) }) {
		return ""
	}
	return ": " + b.heads[i].text
}

// topHeadings returns the headings of the highest level in the document.
func (b *Builder) topHeadings() (tops []head) {
	for _, h := range b.heads {
		if len(tops) > 0 && h.level < tops[0].level {
			tops = nil
		}
		if len(tops) == 0 || h.level == tops[0].level {
			tops = append(tops, h)
		}
	}
	return tops
}

// numberedRow reports whether the first heading and at least one other are numbered.
func numberedRow(heads []head) bool {
	return NumberedLine.MatchString(heads[0].text) &&
		slices.ContainsFunc(heads[1:], func(h head) bool { return NumberedLine.MatchString(h.text) })
}

// NumberedLine matches a line that begins with a section number, which is the first group: "3.1 Results".
var NumberedLine = regexp.MustCompile(`^(\d{1,3}(?:\.\d{1,3}){0,4})\.? {1,4}\pL`)
