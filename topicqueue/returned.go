package topicqueue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Returned is what one tool call of a run returned: its sources, whether anything came of them or not. Calls that
// failed or found nothing have returned none.
type Returned struct {
	ToolID   string   `json:"tool_id"` // of the call, as in ToolTrace
	ToolType string   `json:"tool_type"`
	Query    string   `json:"query"`
	Sources  []Source `json:"sources"` // those without Hash were named only: no text of them was read
}

// EncodeReturned returns calls as JSON Lines, one line for each. Equal calls make an equal text; no calls make an
// empty one.
func EncodeReturned(calls []Returned) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, c := range calls {
		_ = enc.Encode(c) // strings, numbers and times of this era always encode
	}
	return b.String()
}

// DecodeReturned reads what EncodeReturned has written. The error names the line.
func DecodeReturned(text string) ([]Returned, error) {
	var calls []Returned
	line := 0
	for raw := range bytes.Lines([]byte(text)) {
		line++
		var c Returned
		if err := json.Unmarshal(raw, &c); err != nil {
			return nil, fmt.Errorf("read the sources of calls, line %d: %w", line, err)
		}
		calls = append(calls, c)
	}
	return calls, nil
}
