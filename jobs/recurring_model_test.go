package jobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// nightModel researches harbours of a corpustest like a good model. It searches, opens the pages found, notes every
// sentence with a figure, and writes what its claims state. It counts its calls by run.
type nightModel struct {
	mu    sync.Mutex
	calls map[string]int
	steps map[string]map[string]int
	heard map[string][]string // by run: the writer's questions
}

var (
	nightSubject = regexp.MustCompile(`What is known of (.+?) Harbour`)
	nightPage    = regexp.MustCompile(`http://127[^\s"<>]+`)
	nightClaim   = regexp.MustCompile(`(?m)^\[(CIT-[\d-]+)\] (.+?)$`)
	citedBefore  = regexp.MustCompile(`([^\n\[\]]+) \[((?:CIT-\d+|PLAN)-\d+)\]\.`) // a sentence of a finished section
)

func (m *nightModel) count(runID, step string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.calls == nil {
		m.calls, m.steps = map[string]int{}, map[string]map[string]int{}
	}
	if m.steps[runID] == nil {
		m.steps[runID] = map[string]int{}
	}
	m.calls[runID]++
	m.steps[runID][step]++
}

func (m *nightModel) of(runID string) (int, map[string]int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[runID], m.steps[runID]
}

func (m *nightModel) Generate(_ context.Context, req llm.Request) (llm.Response, error) {
	return m.reply(req, nightSubject, func(step, subject string) any {
		switch step {
		case "decompose":
			return prompts.DecomposeAnswer{SubTopics: []prompts.DecomposedTopic{
				{Title: "Size and staff of " + subject + " Harbour", Overview: "How large it is.", Queries: []string{subject + " Harbour overview area people"}},
				{Title: "Traffic and history of " + subject + " Harbour", Overview: "What it handles.", Queries: []string{subject + " Harbour figures containers ships"}},
			}}
		case "decide":
			return decideNight(req, subject, prompts.Action{ToolType: "web_search", Query: fmt.Sprintf("%s Harbour part %d of %s", subject, req.Position.Iteration, req.Position.Block)})
		case "note":
			return noteFigures(req.Prompt.User, subject)
		case "outline":
			return outlineNight("What is known of the harbour "+subject, "How large it is", "What it handles")
		}
		return nil
	})
}

// reply answers with the result of own for a step and subject. If that is empty, it answers like all such models.
func (m *nightModel) reply(req llm.Request, subjects *regexp.Regexp, own func(step, subject string) any) (llm.Response, error) {
	step, _, _ := strings.Cut(req.Position.Step, ".")
	m.count(req.Position.RunID, step)
	if step == "author" {
		m.mu.Lock()
		if m.heard == nil {
			m.heard = map[string][]string{}
		}
		m.heard[req.Position.RunID] = append(m.heard[req.Position.RunID], req.Prompt.User)
		m.mu.Unlock()
	}
	subject := ""
	if found := subjects.FindStringSubmatch(req.Prompt.User); found != nil {
		subject = found[1]
	}
	answer := own(step, subject)
	if answer == nil {
		switch step {
		case "review":
			answer = prompts.ReviewAnswer{}
		case "renew":
			answer = prompts.RenewAnswer{}
		case "author":
			return llm.Response{Text: nightText(req.Prompt.User)}, nil
		default:
			return llm.Response{}, fmt.Errorf("unexpected question %s: %w", step, llm.ErrPermanent)
		}
	}
	text, err := json.Marshal(answer)
	return llm.Response{Text: strings.ReplaceAll(string(text), ":null", ":[]")}, err
}

// decideNight opens the pages of a subject found by the last actions, and searches if there are none.
func decideNight(req llm.Request, subject string, search prompts.Action) prompts.DecideAnswer {
	a := prompts.DecideAnswer{Reasoning: "more", Actions: []prompts.Action{}, NewSubTopics: []prompts.NewSubTopic{}}
	if req.Position.Iteration > 1 {
		slug := "/" + strings.ToLower(strings.ReplaceAll(subject, " ", "-")) + "/"
		_, feedback, _ := strings.Cut(req.Prompt.User, "What became of your last actions")
		for _, page := range nightPage.FindAllString(feedback, -1) {
			if page = strings.TrimRight(page, ".,;)]"); strings.Contains(page, slug) {
				a.Actions = append(a.Actions, prompts.Action{ToolType: "open_page", Query: page})
			}
		}
	}
	if len(a.Actions) == 0 {
		a.Actions = append(a.Actions, search)
	}
	return a
}

// outlineNight returns an outline with a section for each of two blocks.
func outlineNight(title, first, second string) prompts.OutlineAnswer {
	return prompts.OutlineAnswer{Title: title, Introduction: "Sum up.", Conclusion: "Sum up.", Sections: []prompts.OutlineSection{
		{Title: first, BlockIDs: []string{"block_1"}, Subsections: []prompts.OutlineSubsection{}},
		{Title: second, BlockIDs: []string{"block_2"}, Subsections: []prompts.OutlineSubsection{}},
	}}
}

// framed summarizes finished sections in at most this many sentences.
func framed(question string, most int) string {
	var text []string
	for _, c := range citedBefore.FindAllStringSubmatch(question, -1) {
		if line := strings.TrimLeft(c[1], " .") + " [" + c[2] + "]."; len(text) < most && !slices.Contains(text, line) {
			text = append(text, line)
		}
	}
	return strings.Join(text, " ")
}

// nightText writes the claims of each part of a report, and two sentences of them as opening and conclusion.
func nightText(question string) string { return partsOf(question, 2, 100) }

// partsOf is nightText with opening and conclusion of at most this many sentences, and so many for each citation.
func partsOf(question string, most, each int) string {
	said, all := map[string][]string{}, []string{}
	for _, c := range nightClaim.FindAllStringSubmatch(question, -1) {
		line := strings.TrimRight(c[2], ".") + " [" + c[1] + "]."
		if !slices.Contains(all, line) && len(said[c[1]]) < each {
			said[c[1]], all = append(said[c[1]], line), append(all, line)
		}
	}
	return llmtest.Parts(question, func(number int, title string) string {
		if title == "opening" || title == "conclusion" {
			if len(all) == 0 {
				return framed(question, most)
			}
			return strings.Join(all[:min(len(all), most)], " ")
		}
		_, part, _ := strings.Cut(question, fmt.Sprintf("\nPart %d: ", number))
		part, _, _ = strings.Cut(part, "\n\n")
		part, _, _ = strings.Cut(part, "\nAs the last report")
		var text []string
		for _, id := range givenID.FindAllStringSubmatch(part, -1) {
			text = append(text, said[id[1]]...)
		}
		if strings.Contains(part, "[CIT-2-") { // any part may use what is computed
			text = append(text, said["CIT-900-01"]...)
		}
		return strings.Join(text, " ")
	})
}

var figured = regexp.MustCompile(`[A-Z][^.?!<>]*\d{4,}[^.?!<>]*\.`)

// noteFigures returns a claim for every sentence about the subject that has a figure.
func noteFigures(question, subject string) prompts.NoteAnswer {
	a := prompts.NoteAnswer{}
	_, sources, _ := strings.Cut(question, "Sources:")
	parts := strings.Split(sources, "\nSource ")
	for n, part := range parts[1:] {
		for _, s := range figured.FindAllString(topicqueue.OneLine(part), -1) {
			if i := strings.LastIndex(s, "Part "); i >= 0 { // a heading
				s = strings.TrimSpace(s[i+len("Part 1"):])
			}
			if strings.Contains(s, subject+" Harbour") {
				a.Claims = append(a.Claims, prompts.NoteClaim{Source: n + 1, Text: s, Quote: s})
			}
		}
	}
	return a
}
