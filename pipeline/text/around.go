package text

import (
	"strings"
	"unicode"
)

// Around returns the whole sentences next to s[start:end], at most n bytes on each side, or the nearest words if no
// sentence begins or ends there. Both are empty if the range is invalid. Never fails.
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

// afterFirst drops the first sentence, or else the first word, which may be incomplete.
func afterFirst(s string) string {
	if sentences := Sentences(s); len(sentences) > 1 {
		return s[sentences[1].Start:]
	}
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return "…" + s[i:]
	}
	return s
}

// untilLast drops the last sentence, or else the last word, which may be incomplete.
func untilLast(s string) string {
	if sentences := Sentences(s); len(sentences) > 1 {
		return s[:sentences[len(sentences)-2].End]
	}
	if i := strings.LastIndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i] + " …"
	}
	return s
}
