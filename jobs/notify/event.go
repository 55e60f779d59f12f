// Package notify tells other systems and people what has happened: events by webhooks, signed as Standard Webhooks 1.0
// says (https://www.standardwebhooks.com), and digests by mail.
//
// It makes one attempt at a time and keeps nothing: when to try again is for package jobs. What it returns as errors
// names hosts and never holds a credential, nor the path of a webhook's address, which often is one. Entry points:
// Event, Webhook.Deliver, Mail.Send.
package notify

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"time"
)

// Types of events.
const (
	RunEnded       = "run.ended"
	BatchEnded     = "batch.ended"
	SchedulePaused = "schedule.paused"
	BudgetReached  = "budget.reached"
)

// Types lists all of them.
var Types = []string{RunEnded, BatchEnded, SchedulePaused, BudgetReached}

// Event is something that has happened.
type Event struct {
	Type string // one of Types
	// what it has happened to and for which time, such as a run's id and epoch: the same again is the same event
	Subject string
	Time    time.Time
	Data    any // as JSON, at most some kilobytes; nothing secret
}

// ID identifies the event, whoever tells of it and however often: the idempotency key of its receivers.
func (e Event) ID() string {
	sum := sha256.Sum256([]byte(e.Type + "\x00" + e.Subject))
	return "msg_" + base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:])[:26]
}

// Body is what is sent: type, timestamp and data.
func (e Event) Body() ([]byte, error) {
	body, err := json.Marshal(struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      any       `json:"data"`
	}{e.Type, e.Time.UTC(), e.Data})
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.Type, err)
	}
	return body, nil
}
