package answer_test

import (
	"encoding/json"
	"strings"
	"testing"

	"nightdesk/pipeline/llm/answer"
)

// inPieces feeds a text byte by byte.
func inPieces(text string) string {
	var v answer.Values
	var out strings.Builder
	for i := range len(text) {
		out.WriteString(v.Next(text[i : i+1]))
	}
	return out.String()
}

func TestValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":"x","b":["y","z"],"c":{"d":"e"},"f":1}`: "x\ny\nz\ne\n",
		"Here it is:\n```json\n{\"a\": \"x\"}\n```":   "x\n",
		`{"a":"q\"\\\/\n\u00e4\ud83d\ude00"}`:         "q\"\\/\nä😀\n",
		`{"a":"half a te`:                             "half a te",
		`["a"] "b"`:                                   "",
		`{"a":"ü"}`:                                   "ü\n",
		`}}]]{"a":["b`:                                "b",
	} {
		if got := inPieces(text); got != want {
			t.Errorf("%s: %q instead of %q", text, got, want)
		}
	}
}

// FuzzValues: the output of a JSON encoder is unchanged, wherever it is split.
func FuzzValues(f *testing.F) {
	f.Add("plain", `{"a":"\ud83d`)
	f.Add("q\"\\\n\u2028😀", "[[[[{")
	f.Fuzz(func(t *testing.T, text, foreign string) {
		inPieces(foreign)
		text = strings.ToValidUTF8(text, "")
		whole, err := json.Marshal(map[string][]string{"name": {text}})
		if err != nil {
			t.Fatal(err)
		}
		if got := inPieces(string(whole)); got != text+"\n" {
			t.Errorf("%q became %q", text, got)
		}
	})
}
