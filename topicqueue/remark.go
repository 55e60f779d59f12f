package topicqueue

import "time"

// Remark is a reader's comment on a report: that a sentence is wrong, or what the next report should take into
// account. All of it is foreign text.
type Remark struct {
	RunID    string    `json:"run_id"` // run of the report
	At       time.Time `json:"at"`
	By       string    `json:"by,omitempty"`       // reader's name; empty: unknown
	Sentence string    `json:"sentence,omitempty"` // sentence of the report; empty: the whole report
	Words    string    `json:"words"`
}
