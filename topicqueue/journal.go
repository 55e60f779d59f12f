package topicqueue

import "context"

// Once does something that costs time or money at most once at a place of a run, over all attempts and workers. It
// returns the value that an earlier attempt stored there; otherwise it returns the result of do, and stores it if
// keep is true. Of two concurrent calls, both return the value that was stored first.
//
// place identifies the operation and its input: the same place always means the same question. An error of Once
// itself means that do must not begin, because the attempt is over or its worker is stopping. An error of do is
// returned unchanged.
type Once func(ctx context.Context, place string,
	do func(context.Context) (value []byte, keep bool, err error)) ([]byte, error)
