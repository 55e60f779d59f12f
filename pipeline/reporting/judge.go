package reporting

import (
	"context"
	"errors"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/llm"
	"nightdesk/prompts"
)

// judgeBytes bounds what a judge reads of a report, in bytes.
const judgeBytes = 40_000

// Judgement is what a judge model says of a report. It decides nothing.
type Judgement struct {
	Status string               `json:"status"`           // citation.StatusVerified or StatusUnverified
	Reason string               `json:"reason,omitempty"` // why there is none
	Scores []prompts.JudgeScore `json:"scores"`
}

// judge asks the judge model once. Its failure is written down; the error is the end of ctx and nothing else.
func (w *writer) judge(ctx context.Context, title string, d draft) (*Judgement, error) {
	if w.Model == nil || !w.Judge {
		return nil, nil
	}
	parts := []string{"# " + citation.Escape(title), d.opening.body}
	for _, s := range d.sections {
		parts = append(parts, "## "+citation.Escape(s.title), s.body)
	}
	report := strings.ToValidUTF8(strings.Join(append(parts, d.conclusion.body), "\n\n"), "\uFFFD")
	var answer prompts.JudgeAnswer
	var err error
	for shrink := range digestTries {
		text := report
		if limit := judgeBytes >> shrink; len(text) > limit {
			text = strings.ToValidUTF8(text[:limit], "") + " […]"
		}
		p := prompts.Judge(w.run.Options.Language, prompts.JudgeData{Topic: w.topic, Report: text})
		answer, err = llm.Ask[prompts.JudgeAnswer](ctx, w.Model, llm.Request{Position: w.position(p.Name, 0, shrink), Role: llm.Judge, Prompt: p})
		if err == nil || !errors.Is(err, llm.ErrContextLength) {
			break
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return &Judgement{Status: citation.StatusUnverified, Reason: "the judge model gave no usable answer: " + err.Error(), Scores: []prompts.JudgeScore{}}, nil
	}
	j := &Judgement{Status: citation.StatusVerified, Scores: []prompts.JudgeScore{}}
	for _, s := range answer.Scores {
		if s.Score >= 1 && s.Score <= 5 {
			j.Scores = append(j.Scores, s)
		}
	}
	if len(j.Scores) == 0 {
		j.Status, j.Reason = citation.StatusUnverified, "the judge model gave no score from 1 to 5"
	}
	return j, nil
}
