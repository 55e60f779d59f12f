package topicqueue

import "time"

// View is a block's view of its run. It is frozen by the script that begins or checkpoints an iteration, so that a
// repeated iteration asks the same questions.
type View struct {
	Blocks  []BlockTitle `json:"blocks"`  // all blocks of the run, in order
	Queries []string     `json:"queries"` // issued by any block of the run, oldest first
	Own     []string     `json:"own"`     // the queries that this block issued
	Ledger  []Digest     `json:"ledger"`  // findings of the other blocks, oldest first
}

// Digest summarizes one iteration of a block for the other blocks.
type Digest struct {
	Block    string    `json:"block_id,omitempty"`
	Findings []Finding `json:"findings,omitempty"` // best first
	Claims   int       `json:"claims,omitempty"`   // number of claims of the iteration, Findings included
}

// Finding is a claim on one line.
type Finding struct {
	CitationID string `json:"citation_id"`
	Text       string `json:"text"`
	Source     string `json:"source"`          // title, and address or document key
	Block      string `json:"block,omitempty"` // see Claim
}

// ToolCalls counts the calls of one tool.
type ToolCalls struct {
	Asked  int `json:"asked"`  // requested by blocks
	Shared int `json:"shared"` // of Asked: answered with another call's result; the rest were made
}

// BlockTitle names one block of a run.
type BlockTitle struct {
	ID    string `json:"block_id"`
	Title string `json:"title"`
}

// Checkpoint is the result of one iteration, stored atomically.
type Checkpoint struct {
	Iteration int         `json:"iteration"` // counted from 1
	Traces    []ToolTrace `json:"traces"`    // new ones; may be empty
	Queries   []string    `json:"queries"`   // issued in this iteration
	Proposals []SubTopic  `json:"proposals"` // new sub-topics that passed the score rule
	Memory    BlockMemory `json:"memory"`    // for the next iteration
	Events    []Event     `json:"-"`         // sent with the checkpoint, so that they describe stored state
	Digest    Digest      `json:"digest"`    // for the other blocks; the queue fills in Block

	Calls map[string]ToolCalls `json:"calls"` // of this iteration, by tool
	// Returned is the hash of the EncodeReturned text of all that they returned, below pages/ in the bundle; empty:
	// nothing.
	Returned string        `json:"returned,omitempty"`
	Took     time.Duration `json:"-"` // duration of the iteration
}

// BlockMemory is the state of a block besides its traces. It lets a resumed attempt ask the same questions as the
// attempt before.
type BlockMemory struct {
	Feedback  []string `json:"feedback,omitempty"`  // notes on the last iteration's calls for the next question
	Read      []string `json:"read,omitempty"`      // ids of sources that a note has read, including those without a claim
	Fallbacks []string `json:"fallbacks,omitempty"` // see Block.Fallbacks
	Failures  []string `json:"failures,omitempty"`  // failed calls, for display
	// for a run that one conversation answers: the answer, Markdown with markers
	Answer string `json:"answer,omitempty"`
	// the model's last assessment of insufficient evidence: what the claims establish and what is missing
	Open string `json:"open,omitempty"`
}

// Answers to a proposed sub-topic. All but AdmissionAdded are refusals, which are not errors.
const (
	AdmissionAdded     = "added"
	AdmissionDuplicate = "duplicate" // the run already has this topic
	AdmissionFull      = "full"      // Options.QueueMaxLength is reached
	AdmissionSealed    = "sealed"    // the run accepts no more blocks
	AdmissionEmpty     = "empty"     // no title
)

// Admission is the queue's answer to one proposal.
type Admission struct {
	Title   string `json:"title"`
	Answer  string `json:"answer"`             // one of the Admission... constants
	BlockID string `json:"block_id,omitempty"` // the new block, or the block that it duplicates
}

// CheckpointResult is the queue's answer to a checkpoint.
type CheckpointResult struct {
	View       View        `json:"view"` // for the next iteration
	Admissions []Admission `json:"admissions"`
}
