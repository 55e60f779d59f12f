package llmtest

import (
	"regexp"
	"strconv"
	"strings"
)

var partAsked = regexp.MustCompile(`(?m)^(?:Part|第) (\d+)(?:: | 部分：)(?:section |the )?[“"]?(.*?)(?:["”](?: ?一节)?)?$`)

// Parts returns an answer to a question for parts of a report, with the text of each part by its number and title:
// opening, conclusion, or that of a section. The answer is empty if the question asks for no parts.
func Parts(question string, text func(number int, title string) string) string {
	var answer strings.Builder
	for _, m := range partAsked.FindAllStringSubmatch(question, -1) {
		number, _ := strconv.Atoi(m[1])
		title := m[2]
		switch title {
		case "开头":
			title = "opening"
		case "结论":
			title = "conclusion"
		}
		answer.WriteString("## " + m[1] + "\n\n" + text(number, title) + "\n\n")
	}
	return strings.TrimSpace(answer.String())
}
