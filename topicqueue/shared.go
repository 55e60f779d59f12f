package topicqueue

import "time"

// Made is the result of a call that others may share.
type Made struct {
	Value    []byte        // the shared result
	Lifetime time.Duration // how long it is shared; 0: a temporary failure, which is retried
	Also     []string      // further keys to which it is the answer
}
