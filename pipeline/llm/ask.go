package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"nightdesk/pipeline/llm/answer"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

const maxShownAnswer = 6000 // bytes of an unusable answer shown in the second question

// Ask asks a structured question and decodes the answer into T. req.Prompt.Schema must describe T.
//
// After an answer that does not fit, Ask asks once more and lists the errors; Position.Step of that call ends in
// ".reask". Errors are those of Generate, and *AnswerError (errors.Is ErrAnswer) if the second answer does not fit
// either, or the window has no room for the second question. With an error the result is T's zero value.
func Ask[T any](ctx context.Context, m Model, req Request) (T, error) {
	var zero T
	schema, err := answer.Compile(req.Prompt.Schema)
	if err != nil {
		return zero, fmt.Errorf("%s: %w: %w", step(req), err, ErrPermanent)
	}
	req.asked = asked(req)
	req.Valid = func(resp Response) bool {
		_, errs := decode[T](schema, resp)
		return errs == nil
	}
	resp, err := m.Generate(ctx, req)
	if err != nil {
		return zero, err
	}
	value, errs := decode[T](schema, resp)
	if errs == nil {
		return value, nil
	}
	again, err := m.Generate(ctx, reask(req, resp, errs))
	switch {
	case errors.Is(err, ErrContextLength): // the first question did fit, so the caller need not shorten it
		return zero, unusable(req, resp, errs)
	case err != nil:
		return zero, err
	}
	resp = again
	if value, errs = decode[T](schema, resp); errs == nil {
		return value, nil
	}
	return zero, unusable(req, resp, errs)
}

func unusable(req Request, resp Response, errs []string) error {
	return &AnswerError{Step: step(req), Errors: errs, Text: topicqueue.Clip(resp.Text, maxMessage)}
}

func decode[T any](schema *answer.Schema, resp Response) (T, []string) {
	var value, zero T
	if strings.TrimSpace(resp.Text) == "" {
		if resp.Truncated {
			return zero, []string{"the answer is empty", answer.CutHint}
		}
		return zero, []string{"the answer is empty"}
	}
	text, errs := schema.Extract(resp.Text, resp.Truncated)
	if errs != nil {
		return zero, errs
	}
	if err := json.Unmarshal(text, &value); err != nil {
		return zero, []string{err.Error()}
	}
	return value, nil
}

// reask returns the second question: the first question, the answer to it and all its errors. If an answer was cut
// and is empty, it was all thinking, so the limit of the prompt is lifted.
func reask(req Request, resp Response, errs []string) Request {
	lang := "en"
	if strings.ContainsFunc(req.Prompt.System, text.Ideograph) {
		lang = "zh"
	}
	repair := prompts.Repair(lang, prompts.RepairData{
		Answer: topicqueue.Clip(resp.Text, maxShownAnswer), Errors: errs, Schema: string(req.Prompt.Schema),
	})
	req.Position.Step = step(req) + reaskSuffix
	req.Prompt.User += "\n\n" + repair.User
	if resp.Truncated && resp.Text == "" {
		req.Prompt.MaxTokens = 0
	}
	return req
}
