package topicqueue

import "time"

// Remark is what a reader has said about a report: that a sentence of it is wrong, or what the next one should heed.
// All of it is foreign text.
type Remark struct {
	RunID    string    `json:"run_id"` // of the report
	At       time.Time `json:"at"`
	By       string    `json:"by,omitempty"`       // as the reader signed it; empty: not said
	Sentence string    `json:"sentence,omitempty"` // of the report; empty: it is about all of it
	Words    string    `json:"words"`
}
