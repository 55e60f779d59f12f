package papers

import (
	"encoding/json"
	"fmt"
)

// readJSON reads a JSON answer. What broke off or is no JSON is ErrFormat.
func readJSON(body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return nil
}

// each reads the entries of a list one by one: one that is not as documented costs itself alone. When all are so, the
// answer is ErrFormat. paper returns false for what is no paper.
func each[T any](entries []json.RawMessage, paper func(T) (Paper, bool)) ([]Paper, error) {
	var papers []Paper
	var broken error
	read := 0
	for _, raw := range entries {
		var entry T
		if err := json.Unmarshal(raw, &entry); err != nil {
			broken = err
			continue
		}
		read++
		if p, ok := paper(entry); ok {
			papers = append(papers, p)
		}
	}
	if read == 0 && broken != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, broken)
	}
	return papers, nil
}
