package text

import (
	"strings"
	"unicode"
)

// Around returns the whole sentences next to s[start:end], at most n bytes of them on each side, or the words nearest
// to it where no sentence begins or ends there. Both are empty when there is no such place. Never fails.
func Around(s string, start, end, n int) (before, after string) {
	if start < 0 || end < start || end > len(s) {
		return "", ""
	}
	from, to := max(0, start-n), min(len(s), end+n)
	before, after = strings.ToValidUTF8(s[from:start], ""), strings.ToValidUTF8(s[end:to], "")
	if from > 0 {
		before = afterFirst(before)
	}
	if to < len(s) {
		after = untilLast(after)
	}
	return strings.TrimSpace(before), strings.TrimSpace(after)
}

// afterFirst drops the sentence, or else the word, that the beginning of a text may be in the middle of.
func afterFirst(s string) string {
	if sentences := Sentences(s); len(sentences) > 1 {
		return s[sentences[1].Start:]
	}
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return "…" + s[i:]
	}
	return s
}

// untilLast drops the sentence, or else the word, that the end of a text may be in the middle of.
func untilLast(s string) string {
	if sentences := Sentences(s); len(sentences) > 1 {
		return s[:sentences[len(sentences)-2].End]
	}
	if i := strings.LastIndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i] + " …"
	}
	return s
}
