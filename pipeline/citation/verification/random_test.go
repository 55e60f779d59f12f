package verification_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"nightdesk/pipeline/citation/verification"
	"nightdesk/topicqueue/scaletest"
)

// pieces are what random texts are made of: beginnings and ends of all that verification knows.
var pieces = append(strings.Split("[|]|(|)|[1]|[2]|[10]|[1, 2]|[1-3]|[1]–[3]|[^1]|[^1]: |[^a]|[^a]: |[1]: |[a]|[a]: |](|![|!|(see |【|】|†|¹|²|^|$|$$|"+
	"https://ok.example/alpha|https://no.example/x|](https://ok.example/alpha)|](https://no.example)|http://|www.ok.example|bit.ly/abc|handbook.pdf|p. 3|Alpha|…|...|%E2|%|"+
	"CIT-1-01|[[CIT-1-01](#ref-cit-1-01)]|a|b c|1|2|10|0| |. |, |; |: | and |-|—|'|\"|。|#|# |## Sources\n|**References**|Sources:\n|参考文献\n|Notes\n|1. |2. |- |* |> |    |\t|\n|\n\n|\r\n|\n---\n|\n===\n|"+
	"```|`|``|~~~|*|**|_|__|~|\\|&#91;|&#93;|&amp;|&lt;|<a href=\"|\">|<a href=\"https://no.example\">|</a>|<a id=\"ref-1\"></a>|<sup>|</sup>|<script>|<!--|-->|<li>|<tool_call>|</tool_call>|<think>|</think>|[TOOL_CALLS]|"+
	"\u200b|\u202e|\ufeff|\u00a0|\ue200cite|\ue201|[0]|[٢]|[1, S. 2]|[1 und 2]|[1][]|## Überall\n|\t[1] |doi:10.1000/182|«|»|“|citeturn0search1|<end_of_turn>|```tool_code\n|word", "|"),
	"| https://ok.example/alpha |\n", "<cite index=\"1-2\">",
	"|", "<|channel|>", "|---|\n", "\n## Sources\n[1] https://ok.example/alpha\n[2] https://no.example/x\n", "[3] handbook.pdf, p. 3\n")

// randomText returns a text of about size bytes, which mostly consists of a few kinds of pieces.
func randomText(size int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 0))
	few := make([]string, 2+r.IntN(14))
	for i := range few {
		few[i] = pieces[r.IntN(len(pieces))]
	}
	var b strings.Builder
	for b.Len() < size {
		piece := few[r.IntN(len(few))]
		if r.IntN(12) == 0 {
			piece = pieces[r.IntN(len(pieces))]
		}
		b.WriteString(piece)
	}
	return b.String()
}

// TestVerifyRandom: what was verified is verified, also of longer texts than fuzzing makes.
func TestVerifyRandom(t *testing.T) {
	t.Parallel()
	for seed := range scaletest.Of[uint64](200, 800) {
		size := 100 + int(seed)%400
		if seed%200 == 100 {
			size = 20_000
		}
		isStable(t, randomText(size, seed))
	}
}

// isStable fails unless verifying a text again changes nothing, and returns it verified.
func isStable(t *testing.T, in string) verification.Result {
	t.Helper()
	once := verification.Verify(shelf(), in, false)
	twice := verification.Verify(shelf(), once.Report, false)
	if twice.Report != once.Report || len(twice.Removed) > 0 || len(twice.Valid) != len(once.Valid) {
		t.Fatalf("not stable\n   in %q\n once %q\n      %+v\ntwice %q\n      %+v %+v", in, once.Report, once.Valid, twice.Report, twice.Valid, twice.Removed)
	}
	return once
}
