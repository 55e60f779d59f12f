package topicqueue

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// What a person is asked for, and what became of it.
const (
	AskClarification = "clarification" // what the topic leaves open
	AskPlan          = "plan"          // whether the plan, a Markdown list, is as it should be

	ReplyAnswered = "answered"
	ReplyDeclined = "declined" // the person wants the run to go on without an answer
	ReplyMissed   = "missed"   // nobody answered in time
)

// Question is what a run asks a person.
type Question struct {
	Kind string `json:"kind"` // AskClarification or AskPlan
	Text string `json:"question"`
}

// Reply is what became of a question.
type Reply struct {
	Outcome string `json:"outcome"` // ReplyAnswered, ReplyDeclined or ReplyMissed; empty: the run waits
	Text    string `json:"answer"`  // in the person's own words; empty unless answered
}

// Exchange is a question that a run has asked, and the reply.
type Exchange struct {
	Question
	Reply
	AskedAt time.Time `json:"asked_at"`
	// after it the run goes on without an answer; zero: it waits for ever
	Until      time.Time `json:"until,omitzero"`
	AnsweredAt time.Time `json:"answered_at,omitzero"` // also of one that was missed
}

// MaxAnswer bounds what a person answers, in bytes: it stands in every prompt of its run.
const MaxAnswer = 8 << 10

// NewReply returns a person's answer as a reply: control characters are dropped, an empty one is ReplyDeclined. The
// error says what is wrong with it.
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

// Waiting returns the number of the question that a run waits with, counted from 1, and the question; 0: it does not.
func (r Run) Waiting() (int, Exchange) {
	if n := len(r.Dialogue); r.State == RunAwaitingInput && n > 0 {
		return n, r.Dialogue[n-1]
	}
	return 0, Exchange{}
}
