package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"nightdesk/prompts"
)

const maxShownAnswer = 6000 // bytes of an unusable answer that the second question shows

// Ask puts a structured question and decodes the answer into T. req.Prompt.Schema must describe T.
//
// An answer that does not fit is asked for once more, with the errors; Position.Step of that call ends in ".reask".
// Errors: those of Generate, and *AnswerError (errors.Is ErrAnswer) when the second answer does not fit either.
// With an error the result is T's zero value.
func Ask[T any](ctx context.Context, m Model, req Request) (T, error) {
	var zero T
	schema, err := compiledSchemas.compile(req.Prompt.Schema)
	if err != nil {
		return zero, fmt.Errorf("%s: %w: %w", step(req), err, ErrPermanent)
	}
	resp, err := m.Generate(ctx, req)
	if err != nil {
		return zero, err
	}
	answer, errs := decode[T](schema, resp)
	if errs == nil {
		return answer, nil
	}
	resp, err = m.Generate(ctx, reask(req, resp.Text, errs))
	if err != nil {
		return zero, err
	}
	if answer, errs = decode[T](schema, resp); errs == nil {
		return answer, nil
	}
	return zero, &AnswerError{Step: step(req), Errors: errs, Text: clip(resp.Text, maxMessage)}
}

func decode[T any](schema *answerSchema, resp Response) (T, []string) {
	var answer, zero T
	if strings.TrimSpace(resp.Text) == "" {
		if resp.Truncated {
			return zero, []string{"the answer is empty", cutHint}
		}
		return zero, []string{"the answer is empty"}
	}
	text, errs := schema.extract(resp.Text, resp.Truncated)
	if errs != nil {
		return zero, errs
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return zero, []string{err.Error()}
	}
	return answer, nil
}

// reask is the second question: the first one, the answer to it and all that is wrong with that.
func reask(req Request, answer string, errs []string) Request {
	lang := "en"
	if strings.ContainsFunc(req.Prompt.System, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		lang = "zh"
	}
	repair := prompts.Repair(lang, prompts.RepairData{
		Answer: clip(answer, maxShownAnswer), Errors: errs, Schema: string(req.Prompt.Schema),
	})
	req.Position.Step = step(req) + ".reask"
	req.Prompt.User += "\n\n" + repair.User
	return req
}
