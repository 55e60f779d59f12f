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

// Final reports whether a block in this state is done with.
func (s BlockStatus) Final() bool { return s == BlockCompleted || s == BlockFailed }

// SubTopic is a planned or proposed block before the queue has taken it.
type SubTopic struct {
	Title    string   `json:"title"`
	Overview string   `json:"overview"`          // 2 to 3 sentences
	Queries  []string `json:"queries,omitempty"` // starter queries, natural language
	// block that discovered it, or that a review goes on from; empty for a planned one
	Parent string `json:"parent,omitempty"`
	Why    string `json:"why,omitempty"` // a review added it: what the evidence lacked, for a person
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
	Reason     string      `json:"reason,omitempty"`    // why it failed
	Fallbacks  []string    `json:"fallbacks,omitempty"` // steps that a model should have done and did not, for a person
	Open       string      `json:"open,omitempty"`      // see BlockMemory; where no review says what is open
	Iterations int         `json:"iteration_count"`     // iterations that are checkpointed
	Generation int         `json:"generation"`
	CreatedAt  time.Time   `json:"created_at"`
	BeganAt    time.Time   `json:"began_at,omitzero"` // its first attempt, since the last retry
	UpdatedAt  time.Time   `json:"updated_at"`
}

// Number returns n of "block_n", and 0 for an id that has another form.
func (b Block) Number() int { return BlockNumber(b.ID) }

// BlockID returns the id of the n-th block of a run, counted from 1.
func BlockID(n int) string { return "block_" + strconv.Itoa(n) }

// BlockNumber is the inverse of BlockID; it returns 0 for an id that has another form.
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
