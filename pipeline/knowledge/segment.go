package knowledge

import (
	"strings"

	"nightdesk/pipeline/text"
)

// ideograph reports whether r belongs to a script without spaces between words, which is indexed as character pairs.
func ideograph(r rune) bool {
	return r >= 0x2e80 && text.CJK(r)
}

// segment prepares text for the index. A run of ideographs becomes its overlapping pairs and its last character:
// 搜索引擎 -> 搜索 索引 引擎 擎. Pairs match words at any position. A search for a single character is a prefix search, and
// the last character lets it match at the end of a run too. Other text is returned unchanged.
func segment(s string) string {
	if strings.IndexFunc(s, ideograph) < 0 {
		return s
	}
	var b strings.Builder
	var run []rune
	flush := func() {
		for i := range run {
			b.WriteByte(' ')
			b.WriteRune(run[i])
			if i+1 < len(run) {
				b.WriteRune(run[i+1])
			}
		}
		if len(run) > 0 {
			b.WriteByte(' ')
		}
		run = run[:0]
	}
	for _, r := range s {
		if ideograph(r) {
			run = append(run, r)
			continue
		}
		flush()
		b.WriteRune(r)
	}
	flush()
	return b.String()
}
