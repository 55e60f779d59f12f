package llm

import (
	"errors"
	"math"
	"testing"
)

// Whatever a server sends, vectors are complete, of one length and made of numbers.
func FuzzParseEmbeddings(f *testing.F) {
	for _, seed := range []string{
		`{"data":[{"index":1,"embedding":[0.5,-1]},{"index":0,"embedding":[1e-3,2]}],"usage":{"prompt_tokens":3}}`,
		`{"data":[{"embedding":[[1,2]]},{"embedding":[3,4]}]}`,
		`{"error":{"message":"no"}}`, `{"data":[{"index":0,"embedding":[null]},{"index":-1}]}`, `[]`, `null`, "\uFEFF{}", "<html>",
	} {
		f.Add([]byte(seed), 2)
	}
	f.Fuzz(func(t *testing.T, body []byte, n int) {
		n = 1 + max(n, -n, 0)%8
		a, err := parseEmbeddings(body, n)
		if err != nil {
			var foreign *foreignAnswer
			if !errors.Is(err, errBody) && !errors.As(err, &foreign) || a.vectors != nil {
				t.Fatalf("%v with %d vectors", err, len(a.vectors))
			}
			return
		}
		if a.failure != nil {
			if len(a.vectors) > 0 {
				t.Fatal("a failure with vectors")
			}
			return
		}
		if len(a.vectors) != n || a.tokens < 0 {
			t.Fatalf("%d vectors for %d texts, %d tokens", len(a.vectors), n, a.tokens)
		}
		for _, v := range a.vectors {
			if len(v) == 0 || len(v) != len(a.vectors[0]) {
				t.Fatalf("a vector of %d among those of %d", len(v), len(a.vectors[0]))
			}
			for _, x := range v {
				if x != x || math.IsInf(float64(x), 0) {
					t.Fatal("not a number")
				}
			}
		}
	})
}
