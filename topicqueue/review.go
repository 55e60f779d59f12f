package topicqueue

// Review is what comparing the evidence of a run with its plan came to.
type Review struct {
	Gaps    []SubTopic   `json:"gaps,omitempty"`     // blocks that it adds to the queue; none: the report is due
	Blocks  []string     `json:"blocks,omitempty"`   // that had evidence when it was made
	Same    []SameBlocks `json:"same,omitempty"`     // of these those that are one subject
	NotDone string       `json:"not_done,omitempty"` // why nothing was compared that should have been, for a person
}

// SameBlocks are blocks of a run that are one subject.
type SameBlocks struct {
	Title    string   `json:"title"` // covers all of them
	BlockIDs []string `json:"block_ids"`
}
