package support

import (
	"regexp"
	"strings"
)

// maxSentence is the maximum number of bytes of a sentence that are checked.
const maxSentence = 4000

// marks matches code, escapes, links and asterisks of Markdown; underscores matches those that do not join names.
var (
	marks       = regexp.MustCompile("`([^`]*)`" + `|\\([[:punct:]])|\[([^\]]+)\]\([^)]*\)|\*`)
	underscores = regexp.MustCompile(`(^|[^\pL\pN_])_+|_+([^\pL\pN_]|$)`)
)

// plain returns the text shown by Markdown, without emphasis, escapes, code marks and link targets, cut to maxSentence
// bytes.
func plain(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ToValidUTF8(s[:min(len(s), maxSentence)], "")
	s = underscores.ReplaceAllString(marks.ReplaceAllString(s, "$1$2$3"), "$1$2")
	return strings.TrimSpace(strings.TrimLeft(s, "#>- \t"))
}
