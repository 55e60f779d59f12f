package llm

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"
)

// leastText is the size in bytes below which a text is not cut to fit a model's window, because every model accepts
// it.
const leastText = 128

// embedBatch embeds the texts of one batch. Servers limit the number of texts, their length, and sometimes their
// content, and refuse the whole batch. embedBatch then splits it until all acceptable texts have vectors. part: texts
// is a part of a split batch. whole reports whether one request was enough.
func (e *Embedder) embedBatch(ctx context.Context, texts []string, out [][]float32, refusal *firstError,
	part bool) (whole bool, _ error) {
	if len(texts) == 1 {
		err := e.embedOne(ctx, texts[0], out, true)
		if err != nil && aboutTexts(err) { // a single refused text is not an error; its vector is nil
			refusal.set(err)
			return false, nil
		}
		return err == nil, err
	}
	err := e.request(ctx, e.clipped(texts), out, true)
	if err == nil || !aboutTexts(err) {
		return err == nil, err
	}
	if !part && !isTooLong(err) {
		// If neither the first nor the last text is accepted alone, the refusal is not about single texts or their
		// number.
		last := len(texts) - 1
		if err := e.embedOne(ctx, texts[0], out, true); err != nil &&
			(!aboutTexts(err) || e.embedOne(ctx, texts[last], out[last:], true) != nil) {
			return false, err
		}
	}
	half := len(texts) / 2
	first, err := e.embedBatch(ctx, texts[:half], out[:half], refusal, true)
	if err != nil {
		return false, err
	}
	second, err := e.embedBatch(ctx, texts[half:], out[half:], refusal, true)
	if first && second { // the batch had too many texts
		e.batch.Store(min(e.batch.Load(), int64(len(texts)-half)))
	}
	return false, err
}

// embedOne embeds a text, or as much of its beginning as the server accepts. patient: see request.
func (e *Embedder) embedOne(ctx context.Context, text string, out [][]float32, patient bool) error {
	for text = e.clip(text); ; {
		err := e.request(ctx, []string{text}, out[:1], patient)
		if err == nil || len(text) <= leastText || !isTooLong(err) {
			return err
		}
		text = cut(text, len(text)*2/3)
		e.bytes.Store(int64(len(text)))
	}
}

func (e *Embedder) clipped(texts []string) []string {
	if e.bytes.Load() == 0 {
		return texts
	}
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = e.clip(t)
	}
	return out
}

func (e *Embedder) clip(text string) string {
	if limit := int(e.bytes.Load()); limit > 0 {
		return cut(text, limit)
	}
	return text
}

// cut returns the first size bytes of text, or slightly fewer so that no character is split.
func cut(text string, size int) string {
	if len(text) <= size {
		return text
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size]
}

// aboutTexts reports whether a refusal may be about the texts of a request, so that other texts may be accepted.
func aboutTexts(err error) bool {
	var said *ProviderError
	if !errors.Is(err, ErrPermanent) || !errors.As(err, &said) {
		return false
	}
	return said.Status == http.StatusBadRequest || said.Status == http.StatusRequestEntityTooLarge ||
		said.Status == http.StatusUnprocessableEntity || isTextTooLong(said)
}

func isTooLong(err error) bool {
	var said *ProviderError
	return errors.As(err, &said) && isTextTooLong(said)
}

// isTextTooLong also matches the error messages of embedding servers, which differ from those of chat servers.
func isTextTooLong(e *ProviderError) bool {
	words := strings.ToLower(e.Message)
	return isContextLength(e) || strings.Contains(words, "too large to process") ||
		strings.Contains(words, "input length exceeds") ||
		strings.Contains(words, "must have less than") // Text Embeddings Inference: "`inputs` must have less than 512 tokens"
}
