package redisqueue

import (
	"cmp"
	"fmt"
	"strings"

	"nightdesk/topicqueue"
)

// encodeTally writes the fields of a tally in order, with "-" for an empty day; nil gives "".
func encodeTally(t *topicqueue.Tally) string {
	if t == nil {
		return ""
	}
	quotes := 0
	if t.Quotes {
		quotes = 1
	}
	return fmt.Sprintf("%d %d %d %d %d %d %d %d %g %s", t.Sentences, t.Supported, t.Unsupported, quotes, t.Changes,
		t.Calls, t.Tokens, t.Unpriced, t.CostUSD, strings.ReplaceAll(cmp.Or(t.Since, "-"), " ", "_"))
}

// decodeTally parses the output of encodeTally. It returns nil for "" and for any other text.
func decodeTally(s string) *topicqueue.Tally {
	var t topicqueue.Tally
	quotes := 0
	if n, _ := fmt.Sscan(s, &t.Sentences, &t.Supported, &t.Unsupported, &quotes, &t.Changes, &t.Calls, &t.Tokens,
		&t.Unpriced, &t.CostUSD, &t.Since); n < 10 {
		return nil
	}
	t.Quotes, t.Since = quotes == 1, strings.ReplaceAll(strings.TrimPrefix(t.Since, "-"), "_", " ")
	return &t
}
