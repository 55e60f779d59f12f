package topicqueue

import (
	"strconv"
	"strings"
	"time"
)

// BlockStatus is the state of a topic block.
type BlockStatus string

// The states of a topic block.
const (
	BlockPending     BlockStatus = "PENDING"
	BlockResearching BlockStatus = "RESEARCHING"
	BlockCompleted   BlockStatus = "COMPLETED"
	BlockFailed      BlockStatus = "FAILED"
)

// Final reports whether a block in this state is finished.
func (s BlockStatus) Final() bool { return s == BlockCompleted || s == BlockFailed }

// SubTopic is a planned or proposed block that the queue has not yet accepted.
type SubTopic struct {
	Title    string   `json:"title"`
	Overview string   `json:"overview"`          // 2 to 3 sentences
	Queries  []string `json:"queries,omitempty"` // starter queries, natural language
	// block that discovered it, or that a review extends; empty for a planned block
	Parent string `json:"parent,omitempty"`
	Why    string `json:"why,omitempty"` // what the evidence lacked, for display, if a review added it
}

// Block is a topic block: the smallest unit that the queue schedules.
type Block struct {
	ID         string      `json:"block_id"` // block_1, block_2, ...
	Title      string      `json:"sub_topic"`
	Overview   string      `json:"overview"`
	Queries    []string    `json:"queries,omitempty"`
	Parent     string      `json:"parent,omitempty"`
	Why        string      `json:"why,omitempty"` // see SubTopic
	Status     BlockStatus `json:"status"`
	Reason     string      `json:"reason,omitempty"`    // why the block failed
	Fallbacks  []string    `json:"fallbacks,omitempty"` // steps that a model should have done but did not, for display
	Open       string      `json:"open,omitempty"`      // see BlockMemory; set if no review lists open questions
	Iterations int         `json:"iteration_count"`     // checkpointed iterations
	Generation int         `json:"generation"`
	CreatedAt  time.Time   `json:"created_at"`
	BeganAt    time.Time   `json:"began_at,omitzero"` // start of its first attempt since the last retry
	UpdatedAt  time.Time   `json:"updated_at"`
}

// Number returns n for the id "block_n", and 0 for any other id.
func (b Block) Number() int { return BlockNumber(b.ID) }

// BlockID returns the id of the n-th block of a run, counted from 1.
func BlockID(n int) string { return "block_" + strconv.Itoa(n) }

// BlockNumber is the inverse of BlockID. It returns 0 for an id of any other form.
func BlockNumber(id string) int {
	digits, ok := strings.CutPrefix(id, "block_")
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || BlockID(n) != id {
		return 0
	}
	return n
}
