package topicqueue

import "context"

// Once does something that costs time or money at most once at a place of a run, over all attempts and workers: it
// returns what an earlier attempt has stored there, else what do returns, and stores that when keep is true. Of two
// that do the same at once, both get what was stored first.
//
// place names what is done and with what input: the same place always means the same question. An error of Once itself
// means that do must not begin (the attempt is over, or its worker stops); an error of do is returned as it is.
type Once func(ctx context.Context, place string,
	do func(context.Context) (value []byte, keep bool, err error)) ([]byte, error)
