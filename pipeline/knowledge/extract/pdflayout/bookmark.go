package pdflayout

import (
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/knowledge/extract/pdf"

	"nightdesk/pipeline/knowledge/extract/document"
)

// squeeze returns the letters and digits of s in lower case, for comparison.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

var headNumber = regexp.MustCompile(`^(?:(?i:chapter|appendix|section|part|kapitel|anhang|chapitre|annexe)\s+)?` +
	`(?:[A-Z]|[IVXLC]+|\d{1,3}(?:\.\d{1,3})*)(?:\.\d{1,3})*[.:)]?\s+`)

func unnumbered(s string) string { return headNumber.ReplaceAllString(s, "") }

// fromBookmarks finds the titles of the outline on their pages.
func fromBookmarks(lines []textLine, bookmarks []pdf.Bookmark) map[int]headingMark {
	out := map[int]headingMark{}
	first := map[int]int{} // index of each page's first line
	for i := len(lines) - 1; i >= 0; i-- {
		first[lines[i].page] = i
	}
	top := math.MaxInt
	for _, m := range bookmarks {
		top = min(top, m.Level)
	}
	for _, m := range bookmarks {
		if m.Page == 0 {
			continue
		}
		want := document.Clean(fold(m.Title))
		full, bare := squeeze(want), squeeze(unnumbered(want))
		if utf8.RuneCountInString(full) < 2 {
			continue
		}
		for page := m.Page; page <= m.Page+1; page++ {
			from, ok := first[page]
			if ok {
				if i, n := findTitle(lines, from, page, full, bare, out); n > 0 {
					out[i] = headingMark{min(6, m.Level-top+1), n, want}
					break
				}
			}
		}
	}
	return out
}

// findTitle returns the line where a title starts and the number of lines it spans, 0 if it is not found. Of several
// matches it returns the one in the largest type, because the others are in tables of contents.
func findTitle(lines []textLine, from, page int, full, bare string, taken map[int]headingMark) (at, n int) {
	size := 0.0
	for i := from; i < len(lines) && lines[i].page == page; i++ {
		if _, used := taken[i]; used || lines[i].size < 1.02*size {
			continue
		}
		text := ""
		for k := i; k < len(lines) && k < i+4 && lines[k].page == page && lines[k].cells == nil; k++ {
			text = strings.TrimSpace(text + " " + lines[k].text)
			have := squeeze(text)
			if have == full || have == bare || len(bare) > 1 && squeeze(unnumbered(text)) == bare {
				at, n, size = i, k-i+1, lines[i].size
				break
			}
			if len(have) > len(full)+24 {
				break
			}
		}
	}
	return at, n
}

// contentsLines finds the lines of a table of contents: at least three lines on a page that repeat headings, and the
// numbers around them.
func contentsLines(lines []textLine, bookmarks []pdf.Bookmark, headings map[int]headingMark) map[int]bool {
	titles := map[string]bool{}
	for _, m := range bookmarks {
		t := document.Clean(fold(m.Title))
		titles[squeeze(t)], titles[squeeze(unnumbered(t))] = true, true
	}
	delete(titles, "")
	inHeading := map[int]bool{}
	for i, m := range headings {
		for k := range m.lines {
			inHeading[i+k] = true
		}
	}
	entries := map[int][]int{}
	for i, l := range lines {
		text := strings.TrimRight(textOf(l), " .0123456789")
		if !inHeading[i] && (titles[squeeze(text)] || titles[squeeze(unnumbered(text))] || titles[squeeze(textOf(l))]) {
			entries[l.page] = append(entries[l.page], i)
		}
	}
	out := map[int]bool{}
	for _, at := range entries {
		if len(at) < 3 {
			continue
		}
		for _, i := range at {
			out[i] = true
		}
	}
	for i, l := range lines {
		if len(entries[l.page]) >= 3 && (strings.Trim(textOf(l), "0123456789 .ivx") == "" ||
			contentsTitle[strings.ToLower(l.text)]) {
			out[i] = true
		}
	}
	return out
}
