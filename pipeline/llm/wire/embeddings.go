package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// maxDimensions is the maximum length of a vector. The largest models in use have 4,096 dimensions.
const maxDimensions = 1 << 16

// ReadEmbeddings decodes the answer to a question with n texts into ex.Said, and returns the vectors: in the order of
// the texts, all of one length, not empty. It orders them by their indexes; an answer without any index is assumed to
// be in order. langchaingo ignores the indexes of vectors, reads null as 0, and returns no usage.
func ReadEmbeddings(ex *Exchange, n int) ([][]float32, error) {
	var raw struct {
		Data []struct {
			Index     *int   `json:"index"`
			Embedding vector `json:"embedding"`
		} `json:"data"`
		Usage json.RawMessage `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	body, err := jsonObject(ex.Body)
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(body, &raw)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return nil, &Foreign{What: fmt.Sprintf("broken JSON (%v)", err), Odd: true}
	}
	wrong := func(format string, args ...any) ([][]float32, error) {
		return nil, fmt.Errorf("%w: "+format, append([]any{ErrBody}, args...)...)
	}
	ex.Said.Prompt, _, _ = openAIUsage(raw.Usage)
	switch {
	case err != nil:
		return wrong("%w", err)
	case len(raw.Data) == 0 && isSet(raw.Error):
		ex.Said.Failure = raw.Error
		return nil, nil
	case len(raw.Data) == 0:
		return nil, without("data")
	case len(raw.Data) != n:
		return wrong("it has %d vectors for %d texts", len(raw.Data), n)
	}
	vectors := make([][]float32, n)
	for i, d := range raw.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		} else if raw.Data[0].Index != nil {
			return wrong("some vectors have an index and some have none")
		}
		switch {
		case at < 0 || at >= n || vectors[at] != nil:
			return wrong("the index %d of a vector is invalid", at)
		case len(d.Embedding) == 0:
			return wrong("vector %d is empty", at)
		case len(d.Embedding) != len(raw.Data[0].Embedding):
			return wrong("its vectors have %d and %d dimensions", len(raw.Data[0].Embedding), len(d.Embedding))
		}
		vectors[at] = d.Embedding
	}
	return vectors, nil
}

// vector rejects null, which encoding/json reads as 0, and accepts vectors inside a list of one.
type vector []float32

func (v *vector) UnmarshalJSON(raw []byte) error {
	if bytes.HasPrefix(raw, []byte("[[")) && bytes.HasSuffix(raw, []byte("]]")) {
		raw = raw[1 : len(raw)-1]
	}
	if bytes.IndexByte(raw, 'n') >= 0 { // null, also for NaN on the server
		return errors.New("a vector contains a value that is not a number")
	}
	if err := json.Unmarshal(raw, (*[]float32)(v)); err != nil {
		return err
	}
	if len(*v) > maxDimensions {
		return fmt.Errorf("a vector of %d dimensions", len(*v))
	}
	return nil
}
