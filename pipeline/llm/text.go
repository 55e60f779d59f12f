package llm

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"nightdesk/pipeline/llm/answer"
	"nightdesk/topicqueue"
)

// Text puts a question that is answered in free text, trimmed and without an outer ``` fence.
//
// An empty answer is asked for once more (Position.Step with ".reask") and is then an ErrAnswer. When the token limit
// cut the answer, Text returns what stands up to its last complete sentence or line together with an error that
// matches ErrTruncated: a caller that does not handle it never takes a cut text for a whole one.
func Text(ctx context.Context, m Model, req Request) (string, error) {
	req.asked = asked(req)
	req.Valid = func(resp Response) bool { return usableText(resp) != "" }
	for ask := 0; ask < 2; ask++ {
		if ask == 1 {
			req.Position.Step = step(req) + reaskSuffix
		}
		resp, err := m.Generate(ctx, req)
		if err != nil {
			return "", err
		}
		text := usableText(resp)
		switch {
		case text == "":
			if resp.Truncated { // all thinking, or nothing but one endless sentence
				req.Prompt.MaxTokens = 0
			}
		case resp.Truncated:
			return text, fmt.Errorf("%s: %w after %d tokens", step(req), ErrTruncated, resp.Usage.CompletionTokens)
		default:
			return text, nil
		}
	}
	return "", &AnswerError{Step: strings.TrimSuffix(step(req), reaskSuffix), Errors: []string{"the answer is empty"}}
}

// Clean returns the free text of an answer as Text does; empty when there is nothing to use.
func Clean(resp Response) string { return usableText(resp) }

// usableText returns what a caller gets of an answer; empty when there is nothing to use.
func usableText(resp Response) string {
	text := unfence(answer.StripThinking(topicqueue.Printable(resp.Text)))
	if resp.Truncated {
		text = wholeSentences(text)
	}
	return text
}

var openingFence = regexp.MustCompile("^(`{3,}|~{3,})[ \t]*([A-Za-z]*)[ \t]*\r?\n")

// unfence removes a fence around a whole text: ```markdown, ```md, ```text or ``` on the first line and the closing
// one on the last. A fence with another word is code and stays, and so does one that closes before the end.
func unfence(text string) string {
	text = strings.TrimSpace(text)
	open := openingFence.FindStringSubmatch(text)
	if open == nil {
		return text
	}
	switch strings.ToLower(open[2]) {
	case "", "markdown", "md", "text", "txt":
	default:
		return text
	}
	inner := text[len(open[0]):]
	closed := strings.HasSuffix(inner, open[1])
	if closed {
		inner = strings.TrimSuffix(inner, open[1])
	}
	inside := false // in code within the text
	for line := range strings.Lines(inner) {
		mark, ok := strings.CutPrefix(strings.TrimSpace(line), open[1])
		switch {
		case !ok:
		case inside:
			inside = strings.TrimSpace(mark) != ""
		case strings.TrimSpace(mark) == "": // closes the outer fence before the end
			return text
		default:
			inside = true
		}
	}
	if inside || !closed && open[2] == "" {
		return text
	}
	return strings.TrimSpace(inner)
}

// wholeSentences cuts a text behind its last complete sentence or line. It is empty when there is none.
func wholeSentences(text string) string {
	end := 0
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		end = i
	}
	for i, r := range text {
		if i <= end {
			continue
		}
		after := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？':
			end = after
		case '.', '!', '?':
			for after < len(text) && strings.IndexByte(`"')]*_`, text[after]) >= 0 { // closing marks belong to it
				after++
			}
			if after < len(text) && (text[after] == ' ' || text[after] == '\n') { // at the very end it may be "3." of "3.5"
				end = after
			}
		}
	}
	return strings.TrimSpace(text[:end])
}
