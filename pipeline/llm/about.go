package llm

import (
	"context"

	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// Background is what holds for all questions of a run.
type Background struct {
	Language  string // of its prompts, as the functions of package prompts take it
	Date      string // of the run, YYYY-MM-DD
	UserInfo  string // who asks and for what; empty: not known
	Documents []topicqueue.Document
	Length    string // that the user wants of the report; empty: not said
	Audience  string // who reads the report; empty: not said
}

// About wraps a Model so that the background of a run stands in each of its questions, before their data. background
// must say the same to the questions of one stage of a run whoever asks: what it says is a part of the question.
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
	if req.asked != "" { // a journal must tell questions apart that differ only in their background
		bare := Request{Prompt: prompts.About(b.Language, prompts.Prompt{Name: req.Prompt.Name}, data)}
		req.asked += asked(bare)
	}
	req.Prompt = prompts.About(b.Language, req.Prompt, data)
	return a.model.Generate(ctx, req)
}

// CallsTools implements ToolCaller.
func (a about) CallsTools(role Role) bool { return CallsTools(a.model, role) }
