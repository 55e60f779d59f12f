package llm

import (
	"context"

	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// Background is the information that all questions of a run share.
type Background struct {
	Language  string // language of its prompts, as in package prompts
	Date      string // day of the run, YYYY-MM-DD
	UserInfo  string // who asks and why; empty: unknown
	Documents []topicqueue.Document
	Length    string // report length that the user wants; empty: not specified
	Audience  string // readers of the report; empty: not specified
}

// About wraps a Model and inserts the background of a run into each question, before its data. background must return
// the same value for all questions of one stage of a run, because it is part of the question.
func About(m Model, background func() Background) Model { return about{m, background} }

type about struct {
	model      Model
	background func() Background
}

func (a about) Generate(ctx context.Context, req Request) (Response, error) {
	b := a.background()
	data := prompts.AboutData{Date: b.Date, UserInfo: b.UserInfo, Length: b.Length, Audience: b.Audience}
	for _, d := range b.Documents {
		data.Documents = append(data.Documents, prompts.Document(d))
	}
	if req.asked != "" { // a journal must distinguish questions that differ only in their background
		bare := Request{Prompt: prompts.About(b.Language, prompts.Prompt{Name: req.Prompt.Name}, data)}
		req.asked += asked(bare)
	}
	req.Prompt = prompts.About(b.Language, req.Prompt, data)
	return a.model.Generate(ctx, req)
}

// CallsTools implements ToolCaller.
func (a about) CallsTools(role Role) bool { return CallsTools(a.model, role) }
