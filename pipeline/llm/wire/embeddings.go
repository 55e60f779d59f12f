package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// maxDimensions is the maximum length of a vector. The largest models in use have 4,096 dimensions.
const maxDimensions = 1 << 16

// Embeddings is the used part of an embedding answer. langchaingo ignores the indexes of vectors, reads null as 0,
// and returns no usage.
type Embeddings struct {
	Vectors [][]float32 // in the order of the texts, all of one length, not empty
	Tokens  int
	Failure json.RawMessage // an error object sent with status 200
}

// notEmbeddings is an answer with status 200 that does not answer the question. It is an ErrBody with another
// message.
type notEmbeddings struct{ why string }

func (e notEmbeddings) Error() string        { return "not an embeddings response: " + e.why }
func (e notEmbeddings) Is(target error) bool { return target == ErrBody }

// ReadEmbeddings decodes an answer to a question with n texts. It orders the vectors by their indexes; an answer
// without any index is assumed to be in order.
func ReadEmbeddings(body []byte, n int) (Embeddings, error) {
	var a Embeddings
	wrong := func(format string, args ...any) (Embeddings, error) {
		return Embeddings{Tokens: a.Tokens}, notEmbeddings{fmt.Sprintf(format, args...)}
	}
	body, err := jsonObject(body)
	if err != nil {
		return a, err
	}
	var raw struct {
		Data []struct {
			Index     *int   `json:"index"`
			Embedding vector `json:"embedding"`
		} `json:"data"`
		Usage json.RawMessage `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(body, &raw); err != nil {
		if err := unreadable(err); !errors.Is(err, ErrBody) {
			return a, err
		}
		return wrong("%v", err)
	}
	a.Tokens, _, _ = openAIUsage(raw.Usage)
	switch {
	case len(raw.Data) == 0 && isSet(raw.Error):
		a.Failure = raw.Error
		return a, nil
	case len(raw.Data) == 0:
		return a, without("data")
	case len(raw.Data) != n:
		return wrong("it has %d vectors for %d texts", len(raw.Data), n)
	}
	a.Vectors = make([][]float32, n)
	for i, d := range raw.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		} else if raw.Data[0].Index != nil {
			return wrong("some vectors have an index and some have none")
		}
		switch {
		case at < 0 || at >= n || a.Vectors[at] != nil:
			return wrong("the index %d of a vector is invalid", at)
		case len(d.Embedding) == 0:
			return wrong("vector %d is empty", at)
		case len(d.Embedding) != len(raw.Data[0].Embedding):
			return wrong("its vectors have %d and %d dimensions", len(raw.Data[0].Embedding), len(d.Embedding))
		}
		a.Vectors[at] = d.Embedding
	}
	return a, nil
}

// vector rejects null, which encoding/json reads as 0, and accepts vectors inside a list of one.
type vector []float32

func (v *vector) UnmarshalJSON(raw []byte) error {
	if bytes.HasPrefix(raw, []byte("[[")) && bytes.HasSuffix(raw, []byte("]]")) {
		raw = raw[1 : len(raw)-1]
	}
	if bytes.HasPrefix(raw, []byte(`"`)) {
		return errors.New("a vector is a string instead of numbers")
	}
	if bytes.IndexByte(raw, 'n') >= 0 { // null, also for NaN on the server
		return errors.New("a vector contains a value that is not a number")
	}
	var numbers []float32
	if err := json.Unmarshal(raw, &numbers); err != nil {
		return err
	}
	if len(numbers) > maxDimensions {
		return fmt.Errorf("a vector of %d dimensions", len(numbers))
	}
	*v = numbers
	return nil
}

// Placeholder returns an answer for langchaingo in place of one whose vectors have already been read.
func Placeholder(n int) []byte {
	return []byte(`{"data":[` + strings.TrimSuffix(strings.Repeat(`{"embedding":[0]},`, n), ",") + `]}`)
}
