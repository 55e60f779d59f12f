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
		ex := &wire.Exchange{Body: body}
		vectors, err := wire.ReadEmbeddings(ex, n)
		if err != nil {
			var foreign *wire.Foreign
			if !errors.Is(err, wire.ErrBody) && !errors.As(err, &foreign) || vectors != nil {
				t.Fatalf("%v with %d vectors", err, len(vectors))
			}
			return
		}
		if ex.Said.Failure != nil {
			if len(vectors) > 0 {
				t.Fatal("a failure with vectors")
			}
			return
		}
		if len(vectors) != n || ex.Said.Prompt < 0 {
			t.Fatalf("%d vectors for %d texts, %d tokens", len(vectors), n, ex.Said.Prompt)
		}
		for _, v := range vectors {
			if len(v) == 0 || len(v) != len(vectors[0]) {
				t.Fatalf("a vector of %d among those of %d", len(v), len(vectors[0]))
			}
			for _, x := range v {
				if x != x || math.IsInf(float64(x), 0) {
					t.Fatal("not a number")
				}
			}
		}
	})
}
