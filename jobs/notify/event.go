// Package notify announces events by webhooks, signed according to Standard Webhooks 1.0
// (https://www.standardwebhooks.com), and sends digests by mail.
//
// It makes one attempt at a time and stores nothing; package jobs decides about retries. Its errors name hosts but
// never contain a credential, nor the path of a webhook's address, which often is one. Entry points: Event,
// Webhook.Deliver, Mail.Send.
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

// Types lists all types of events.
var Types = []string{RunEnded, BatchEnded, SchedulePaused, BudgetReached}

// MaxText is the maximum length of a text in the data of an event, in bytes.
const MaxText = 2000

// Event is a notification about something that has happened.
type Event struct {
	Type string // one of Types
	// the subject and its occurrence, such as a run's id and epoch; equal values identify the same event
	Subject string
	Time    time.Time
	Data    any // as JSON, at most some kilobytes; no secrets
}

// ID identifies the event, however often and by whichever process it is sent. Receivers use it as idempotency key.
func (e Event) ID() string {
	sum := sha256.Sum256([]byte(e.Type + "\x00" + e.Subject))
	return "msg_" + base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:])[:26]
}

// Body returns the JSON to send: type, timestamp and data.
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
