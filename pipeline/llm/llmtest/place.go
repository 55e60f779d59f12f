package llmtest

import (
	"regexp"
	"strings"
)

var placeMark = regexp.MustCompile(`\[(\d+\.\d+)\] `)

// PlaceOf returns the number of the sentence of a source that has these words, as a judge's question numbers them:
// 2.13. White space does not count. It returns "" if no sentence has them.
func PlaceOf(question, words string) string {
	question, words = strings.Join(strings.Fields(question), " "), strings.Join(strings.Fields(words), " ")
	at := strings.Index(question, words)
	if at < 0 || words == "" {
		return ""
	}
	marks := placeMark.FindAllStringSubmatch(question[:at], -1)
	if len(marks) == 0 {
		return ""
	}
	return marks[len(marks)-1][1]
}
