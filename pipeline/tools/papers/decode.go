package papers

import (
	"encoding/json"
	"fmt"
)

// readJSON parses a JSON answer. Invalid or truncated JSON is ErrFormat.
func readJSON(body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return nil
}

// each parses the entries of a list. It skips malformed entries, and returns ErrFormat if all are malformed. paper
// returns false for an entry that is not a paper.
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
