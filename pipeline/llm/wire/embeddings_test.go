package wire_test

import (
	"errors"
	"math"
	"testing"

	"nightdesk/pipeline/llm/wire"
)

// Vectors are complete, of equal length and numeric, whatever a server sends.
func FuzzReadEmbeddings(f *testing.F) {
	for _, seed := range []string{
		`{"data":[{"index":1,"embedding":[0.5,-1]},{"index":0,"embedding":[1e-3,2]}],"usage":{"prompt_tokens":3}}`,
		`{"data":[{"embedding":[[1,2]]},{"embedding":[3,4]}]}`,
		`{"error":{"message":"no"}}`, `{"data":[{"index":0,"embedding":[null]},{"index":-1}]}`, `[]`, `null`, "\uFEFF{}", "<html>",
	} {
		f.Add([]byte(seed), 2)
	}
	f.Fuzz(func(t *testing.T, body []byte, n int) {
		n = 1 + max(n, -n, 0)%8
		a, err := wire.ReadEmbeddings(body, n)
		if err != nil {
			var foreign *wire.Foreign
			if !errors.Is(err, wire.ErrBody) && !errors.As(err, &foreign) || a.Vectors != nil {
				t.Fatalf("%v with %d vectors", err, len(a.Vectors))
			}
			return
		}
		if a.Failure != nil {
			if len(a.Vectors) > 0 {
				t.Fatal("a failure with vectors")
			}
			return
		}
		if len(a.Vectors) != n || a.Tokens < 0 {
			t.Fatalf("%d vectors for %d texts, %d tokens", len(a.Vectors), n, a.Tokens)
		}
		for _, v := range a.Vectors {
			if len(v) == 0 || len(v) != len(a.Vectors[0]) {
				t.Fatalf("a vector of %d among those of %d", len(v), len(a.Vectors[0]))
			}
			for _, x := range v {
				if x != x || math.IsInf(float64(x), 0) {
					t.Fatal("not a number")
				}
			}
		}
	})
}
