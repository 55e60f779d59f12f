package topicqueue

// Review is the result of comparing the evidence of a run with its plan.
type Review struct {
	// blocks to add to the queue; none: the report is due
	Gaps           []SubTopic      `json:"gaps,omitempty"`
	Blocks         []string        `json:"blocks,omitempty"`         // blocks that had evidence at the time
	Contradictions []Contradiction `json:"contradictions,omitempty"` // between claims of these blocks
	// questions that the claims leave open and these gaps do not cover, for the writers, one sentence each
	Open  []string `json:"open,omitempty"`
	Draft string   `json:"draft,omitempty"` // short answer to the topic from these claims; empty: none was written
	// why a due comparison was not done, for display
	NotDone string `json:"not_done,omitempty"`
	Number  int    `json:"number,omitempty"` // which review of the run it is, counted from 1
	// from the run that this one updates, so it does not cover later changes
	Earlier bool `json:"earlier,omitempty"`
}

// Standing returns the parts of a review that remain valid when the next review is not done. It drops the gaps, which
// have become blocks, and records notDone as the reason.
func (r Review) Standing(notDone string) Review {
	r.Gaps, r.NotDone = nil, notDone
	return r
}

// None reports whether nothing was reviewed and no reason is given.
func (r Review) None() bool {
	return len(r.Gaps)+len(r.Blocks)+len(r.Contradictions)+len(r.Open) == 0 && r.NotDone == ""
}

// Contradiction is a pair of claims that, according to a model, cannot both be true.
type Contradiction struct {
	A   string `json:"a"` // claim ids
	B   string `json:"b"`
	Why string `json:"why"` // the difference, and a possible explanation
}
