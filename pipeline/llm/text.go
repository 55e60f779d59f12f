package llm

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"nightdesk/pipeline/llm/answer"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// Text asks a question and returns the answer as free text, trimmed and without an outer ``` fence.
//
// After an empty answer Text asks once more (Position.Step with ".reask"); a second empty answer is an ErrAnswer. If
// the token limit cut the answer, Text returns the text up to its last complete sentence or line with an error that
// matches ErrTruncated, so that a caller cannot mistake a cut text for a complete one.
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
		said := usableText(resp)
		switch {
		case said == "":
			if resp.Truncated { // all thinking, or a single endless sentence
				req.Prompt.MaxTokens = 0
			}
		case resp.Truncated:
			return said, fmt.Errorf("%s: %w after %d tokens", step(req), ErrTruncated, resp.Usage.CompletionTokens)
		default:
			return said, nil
		}
	}
	return "", &AnswerError{Step: strings.TrimSuffix(step(req), reaskSuffix), Errors: []string{"the answer is empty"}}
}

// usableText returns the usable part of an answer; empty if there is none.
func usableText(resp Response) string {
	said := unfence(answer.StripThinking(topicqueue.Printable(resp.Text)))
	if resp.Truncated {
		said = wholeSentences(said)
	}
	return said
}

var openingFence = regexp.MustCompile("^(`{3,}|~{3,})[ \t]*([A-Za-z]*)[ \t]*\r?\n")

// unfence removes a fence around a whole text: ```markdown, ```md, ```text, ```txt or ``` on the first line and the
// closing fence on the last. A fence with another word is code and stays, as does a fence that closes before the end.
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
	inside := false // in a code block within the text
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

// wholeSentences cuts a text after its last complete sentence or line. The result is empty if there is none. A stop at
// the very end may be that of "3." in "3.5".
func wholeSentences(s string) string {
	line := strings.LastIndexByte(s, '\n') + 1
	end := line
	if sentences := text.ParagraphSentences(s[line:]); len(sentences) > 1 {
		end += sentences[len(sentences)-2].End
	}
	return strings.TrimSpace(s[:end])
}
