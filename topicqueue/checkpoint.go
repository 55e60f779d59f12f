package topicqueue

import "time"

// View is what a block sees of its run. It is frozen by the script that begins or checkpoints an iteration, so that
// an iteration which is done again asks the same questions.
type View struct {
	Blocks  []BlockTitle `json:"blocks"`  // of the whole run, in order
	Queries []string     `json:"queries"` // issued by any block of the run, oldest first
	Own     []string     `json:"own"`     // those of them that this block has issued
	Ledger  []Digest     `json:"ledger"`  // what the other blocks have found, oldest first
}

// Digest is what one iteration of a block tells the others.
type Digest struct {
	Block    string    `json:"block_id,omitempty"`
	Findings []Finding `json:"findings,omitempty"` // best first
	Claims   int       `json:"claims,omitempty"`   // of the iteration, those that are no Findings included
	Read     []string  `json:"read,omitempty"`     // addresses and document keys of the sources that its notes have read
}

// Finding is a claim in one line.
type Finding struct {
	CitationID string `json:"citation_id"`
	Text       string `json:"text"`
	Source     string `json:"source"` // title, and address or document key
}

// ToolCalls counts calls of one tool.
type ToolCalls struct {
	Asked  int `json:"asked"`  // by blocks
	Shared int `json:"shared"` // of them: answered by what another call had brought; the others were made
}

// BlockTitle names one block of a run.
type BlockTitle struct {
	ID    string `json:"block_id"`
	Title string `json:"title"`
}

// Checkpoint is the result of one iteration, stored in one step.
type Checkpoint struct {
	Iteration int         `json:"iteration"` // counted from 1
	Traces    []ToolTrace `json:"traces"`    // new ones; may be empty
	Queries   []string    `json:"queries"`   // issued in this iteration
	Proposals []SubTopic  `json:"proposals"` // new sub-topics that passed the score rule
	Memory    BlockMemory `json:"memory"`    // for the next iteration
	Events    []Event     `json:"-"`         // sent with it, so that they tell of what is stored
	Digest    Digest      `json:"digest"`    // for the other blocks; Block is the queue's to fill in

	Calls map[string]ToolCalls `json:"calls"` // of this iteration, by tool
	// Returned is the hash of the text that says what they returned (EncodeReturned), below pages/ in the bundle;
	// empty: nothing.
	Returned string        `json:"returned,omitempty"`
	Took     time.Duration `json:"-"` // by the iteration
}

// BlockMemory is what a block knows beside its traces, so that an attempt which goes on asks the same as the one before
// would have.
type BlockMemory struct {
	Feedback  []string `json:"feedback,omitempty"`  // what the next question says of the last iteration's calls
	Read      []string `json:"read,omitempty"`      // ids of sources that a note has read, also those without a claim
	Fallbacks []string `json:"fallbacks,omitempty"` // see Block.Fallbacks
	Failures  []string `json:"failures,omitempty"`  // calls that failed, for a person
	// of a run that is answered in one conversation: the answer, Markdown with markers
	Answer string `json:"answer,omitempty"`
	// what its model said last of evidence that did not suffice: what the claims establish, and what is missing
	Open string `json:"open,omitempty"`
}

// Answers to a proposed sub-topic. All but AdmissionAdded are refusals, which are answers and not errors.
const (
	AdmissionAdded     = "added"
	AdmissionDuplicate = "duplicate" // the run has this topic already
	AdmissionFull      = "full"      // Options.QueueMaxLength is reached
	AdmissionSealed    = "sealed"    // the run takes no more blocks
	AdmissionEmpty     = "empty"     // no title
)

// Admission is the queue's answer to one proposal.
type Admission struct {
	Title   string `json:"title"`
	Answer  string `json:"answer"`             // one of the Admission... constants
	BlockID string `json:"block_id,omitempty"` // the new block, or the one that it duplicates
}

// CheckpointResult is what the queue answers to a checkpoint.
type CheckpointResult struct {
	View       View        `json:"view"` // for the next iteration
	Admissions []Admission `json:"admissions"`
}
