package topicqueue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Returned holds all sources that one tool call of a run returned, used or not. There is none for a call that failed
// or found nothing.
type Returned struct {
	ToolID   string   `json:"tool_id"` // id of the call, as in ToolTrace
	ToolType string   `json:"tool_type"`
	Query    string   `json:"query"`
	Sources  []Source `json:"sources"` // a source without Hash was only named; its text was not read
}

// EncodeReturned returns calls as JSON Lines, one line each. Equal calls give equal text; no calls give the empty
// string.
func EncodeReturned(calls []Returned) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, c := range calls {
		_ = enc.Encode(c) // strings, numbers and present-day times always encode
	}
	return b.String()
}

// DecodeReturned reads the output of EncodeReturned. The error names the line.
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
