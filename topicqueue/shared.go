package topicqueue

import "time"

// Made is what came of a call that others may share.
type Made struct {
	Value    []byte        // what they get
	Lifetime time.Duration // how long they get it; 0: a failure that may pass, which is tried again
	Also     []string      // further keys under which it is the answer
}
