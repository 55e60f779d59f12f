package citation

import (
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/text"
)

// linkedMarkers is a row of linked markers.
var linkedMarkers = regexp.MustCompile(`(?:\[\[[^\[\]]{1,40}\]\(#ref-[a-z0-9-]+\)\])+`)

// collapse shows equal rows of markers once where they stand behind sentences that follow each other, behind the last
// of these: a sentence without a citation ends such a series, and so does one with other markers beside. Rows of
// tables keep theirs, since each cell is read alone. The text is rendered; code is left alone.
func collapse(rendered string) string {
	code, lineStart := codeSpans(rendered), 0
	var out strings.Builder
	for line := range strings.SplitAfterSeq(rendered, "\n") {
		rows := linkedMarkers.FindAllStringIndex(line, -1)
		if strings.HasPrefix(strings.TrimLeft(line, " "), "|") {
			rows = nil
		}
		rows = slices.DeleteFunc(rows, func(r []int) bool {
			i, _ := slices.BinarySearchFunc(code, lineStart+r[0], func(s span, at int) int { return s.end - at - 1 })
			return i < len(code) && code[i].start < lineStart+r[1]
		})
		last := 0
		for i := range rows {
			if shared(line, rows, i) {
				out.WriteString(strings.TrimRight(line[last:rows[i][0]], " "))
				last = rows[i][1]
			}
		}
		out.WriteString(line[last:])
		lineStart += len(line)
	}
	return out.String()
}

// shared reports whether row i of a line's markers is said by the one behind it: that one is equal and ends the same
// or the next sentence, and the sentence of row i rests on nothing else.
func shared(line string, rows [][]int, i int) bool {
	row := func(i int) string { return line[rows[i][0]:rows[i][1]] }
	ends := func(i int) bool { return sentenceEnd.MatchString(line[rows[i][1]:]) }
	return i+1 < len(rows) && row(i) == row(i+1) && oneSentence(line[rows[i][1]:rows[i+1][0]]) && ends(i+1) &&
		(i == 0 || ends(i-1) || row(i-1) == row(i))
}

// sentenceEnd is what ends a sentence behind its last marker: in its midst, a marker may be of the words before it
// alone.
var sentenceEnd = regexp.MustCompile(`^[\s"'”’)\]]*(?:[.!?。！？…]|$)`)

// oneSentence reports whether what stands between two markers is all of one sentence.
func oneSentence(between string) bool {
	return len(text.Sentences(strings.TrimLeft(between, ".!?。！？…;:,\"'”’)] "))) <= 1
}
