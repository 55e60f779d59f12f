package topicqueue

// Review is what comparing the evidence of a run with its plan came to.
type Review struct {
	// blocks that it adds to the queue; none: the report is due
	Gaps           []SubTopic      `json:"gaps,omitempty"`
	Blocks         []string        `json:"blocks,omitempty"`         // that had evidence when it was made
	Contradictions []Contradiction `json:"contradictions,omitempty"` // between claims of these blocks
	// what the claims leave open and no block of these gaps asks, for the writers: a sentence each
	Open []string `json:"open,omitempty"`
	// why nothing was compared that should have been, for a person
	NotDone string `json:"not_done,omitempty"`
	// It is that of the run that this one goes on from, and knows nothing of what has moved since.
	Earlier bool `json:"earlier,omitempty"`
}

// Standing returns what holds on of a review when the next one is not done, and why it is not: all but its gaps, which
// are blocks by then.
func (r Review) Standing(notDone string) Review {
	r.Gaps, r.NotDone = nil, notDone
	return r
}

// None reports that nothing was reviewed, and nothing says why.
func (r Review) None() bool {
	return len(r.Gaps)+len(r.Blocks)+len(r.Contradictions)+len(r.Open) == 0 && r.NotDone == ""
}

// Contradiction is two claims that a model has found not to be true both.
type Contradiction struct {
	A   string `json:"a"` // ids of claims
	B   string `json:"b"`
	Why string `json:"why"` // what differs, and what may explain it
}
