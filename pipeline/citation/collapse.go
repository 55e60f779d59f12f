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
		last, said := 0, shared(line, rows)
		for i := range rows {
			if said[i] {
				out.WriteString(strings.TrimRight(line[last:rows[i][0]], " "))
				last = rows[i][1]
			}
		}
		out.WriteString(line[last:])
		lineStart += len(line)
	}
	return out.String()
}

// shared reports which rows of a line's markers are said by one behind them: the next one is equal and ends the same
// or the next sentence, or is said by a further one, and the sentence of the row rests on nothing else.
func shared(line string, rows [][]int) []bool {
	out := make([]bool, len(rows))
	row := func(i int) string { return line[rows[i][0]:rows[i][1]] }
	ends := func(i int) bool { return sentenceEnd.MatchString(line[rows[i][1]:]) }
	for i := len(rows) - 2; i >= 0; i-- {
		alone := i == 0 || ends(i-1) || row(i-1) == row(i)
		out[i] = alone && row(i) == row(i+1) && (out[i+1] || ends(i+1)) && oneSentence(line[rows[i][1]:rows[i+1][0]])
	}
	return out
}

// sentenceEnd is what ends a sentence behind its last marker: in its midst, a marker may be of the words before it
// alone.
var sentenceEnd = regexp.MustCompile(`^[\s"'”’)\]]*(?:[.!?。！？…]|$)`)

// oneSentence reports whether what stands between two markers is all of one sentence.
func oneSentence(between string) bool {
	return len(text.Sentences(strings.TrimLeft(between, ".!?。！？…;:,\"'”’)] "))) <= 1
}
