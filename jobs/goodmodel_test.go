package jobs_test

import (
	"encoding/json"
	"regexp"
	"strings"

	"nightdesk/pipeline/llm/llmtest"
)

var givenID = regexp.MustCompile(`\[((?:PLAN|CIT-\d+)-\d+)\]`)

// goodAnswer quotes documents and cites the given markers. Other answers are those of the stub.
func goodAnswer(q llmtest.Question) (string, bool) {
	switch {
	case strings.HasPrefix(q.Name, "note"):
		type claim struct {
			Source int    `json:"source"`
			Block  string `json:"block"`
			Text   string `json:"text"`
			Quote  string `json:"quote"`
		}
		claims := []claim{}
		for _, text := range documents {
			for line := range strings.Lines(text) {
				if line = strings.TrimSpace(line); strings.HasSuffix(line, ".") && strings.Contains(q.User, line) {
					claims = append(claims, claim{1, "", "It is known: " + line, line})
				}
			}
		}
		answer, _ := json.Marshal(map[string]any{"think": "", "claims": claims})
		return string(answer), true
	case q.Schema == nil:
		text := ""
		for _, id := range givenID.FindAllStringSubmatch(q.User, 4) {
			text += "It is known from " + id[1] + " [" + id[1] + "]. "
		}
		return text, text != ""
	}
	return "", false
}
