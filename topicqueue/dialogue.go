package topicqueue

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Kinds of questions to a person, and outcomes.
const (
	AskClarification = "clarification" // the topic is ambiguous
	AskPlan          = "plan"          // the plan, a Markdown list, needs approval

	ReplyAnswered = "answered"
	ReplyDeclined = "declined" // the person wants the run to continue without an answer
	ReplyMissed   = "missed"   // no answer in time
)

// Question is a question from a run to a person.
type Question struct {
	Kind string `json:"kind"` // AskClarification or AskPlan
	Text string `json:"question"`
}

// Reply is the outcome of a question.
type Reply struct {
	Outcome string `json:"outcome"` // ReplyAnswered, ReplyDeclined or ReplyMissed; empty: the run waits
	Text    string `json:"answer"`  // in the person's own words; empty unless answered
}

// Exchange is a question from a run and its reply.
type Exchange struct {
	Question
	Reply
	AskedAt time.Time `json:"asked_at"`
	// after this time the run continues without an answer; zero: it waits without limit
	Until      time.Time `json:"until,omitzero"`
	AnsweredAt time.Time `json:"answered_at,omitzero"` // also set for a missed question
}

// MaxAnswer is the maximum length of a person's answer in bytes. The answer is part of every prompt of its run.
const MaxAnswer = 8 << 10

// NewReply returns a person's answer as a reply. It drops control characters; an empty answer becomes ReplyDeclined.
// It returns an error for an answer over MaxAnswer or one that is not UTF-8 text.
func NewReply(answer string) (Reply, error) {
	switch {
	case len(answer) > MaxAnswer:
		return Reply{}, fmt.Errorf("the answer has %d bytes, but at most %d are allowed. Put long material into "+
			"a knowledge base", len(answer), MaxAnswer)
	case !utf8.ValidString(answer), strings.ContainsRune(answer, 0):
		return Reply{}, errors.New("the answer is not UTF-8 text")
	}
	answer = strings.TrimSpace(Printable(answer))
	if answer == "" {
		return Reply{Outcome: ReplyDeclined}, nil
	}
	return Reply{Outcome: ReplyAnswered, Text: answer}, nil
}

// Waiting returns the question that the run waits for and its number, counted from 1; 0 if the run does not wait.
func (r Run) Waiting() (int, Exchange) {
	if n := len(r.Dialogue); r.State == RunAwaitingInput && n > 0 {
		return n, r.Dialogue[n-1]
	}
	return 0, Exchange{}
}
