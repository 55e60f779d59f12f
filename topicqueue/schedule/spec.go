// Package schedule says when a recurring batch is due and what becomes of each of its due times: types and pure
// functions. Nothing here knows a clock, Redis or a queue. Start reading with Record.Advance; Cron is what a cron
// expression means where clocks are changed.
package schedule

import (
	"errors"
	"fmt"
	"regexp"
	"time"
)

// What is done with due times at which no scheduler ran.
const (
	CatchUpOnce = "once" // the latest of them is fired, the others are noted as missed
	CatchUpSkip = "skip" // all of them are noted as missed
)

// What is done with a due time at which the previous batch is still running.
const (
	OverlapSkip  = "skip"  // it is noted as skipped
	OverlapQueue = "queue" // it waits until that batch has ended; another one that comes meanwhile is skipped
)

// DefaultPauseAfter is after how many failed nights in a row a schedule pauses itself.
const DefaultPauseAfter = 3

// Spec is what a person says of a schedule. Two are equal when they say the same.
type Spec struct {
	Name string `json:"name"`
	Cron string `json:"cron"`
	Zone string `json:"timezone"` // IANA name
	// list of topics: an absolute path, a URL or s3://bucket/key; read at each firing
	Topics        string `json:"topics"`
	Template      string `json:"template,omitempty"` // makes topics of the columns of the list
	Tags          string `json:"tags,omitempty"`     // of all topics, with commas between them
	Preset        string `json:"preset,omitempty"`
	Language      string `json:"language,omitempty"`
	KnowledgeBase string `json:"kb,omitempty"` // name or directory; as it is at each firing
	Strategy      string `json:"strategy,omitempty"`
	Sources       string `json:"sources,omitempty"`
	Priority      string `json:"priority,omitempty"`
	Budget        string `json:"budget,omitempty"`       // of each run, as topicqueue.ParseBudget reads it
	BatchBudget   string `json:"batch_budget,omitempty"` // of all runs of one firing together
	// time of day in the schedule's zone, the next one after a firing
	Deadline       string `json:"deadline,omitempty"`
	ReportTemplate string `json:"report_template,omitempty"` // an absolute path; as it is at each firing
	Audio          string `json:"audio,omitempty"`           // how the reports are read aloud
	Incremental    bool   `json:"incremental,omitempty"`     // update the last report on each topic
	CatchUp        string `json:"catch_up"`
	Overlap        string `json:"overlap"`
	PauseAfter     int    `json:"pause_after"` // failed nights in a row
}

var validName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$`)

// Check says what is wrong with a spec, all of it, and nil when nothing is. What names the topics and how they are
// researched is not looked at.
func (s Spec) Check() error {
	var errs []error
	if !validName.MatchString(s.Name) {
		errs = append(errs, fmt.Errorf("schedule name %q: use at most 64 letters, digits and the signs - _ . only", s.Name))
	}
	if _, err := ParseCron(s.Cron, s.Zone); err != nil {
		errs = append(errs, err)
	}
	if s.Topics == "" {
		errs = append(errs, errors.New("a schedule needs a list of topics: a file, a URL or s3://bucket/key"))
	}
	if s.Deadline != "" {
		if _, err := time.Parse("15:04", s.Deadline); err != nil {
			errs = append(errs, fmt.Errorf("deadline %q: give a time of day, such as 07:00", s.Deadline))
		}
	}
	if s.CatchUp != CatchUpOnce && s.CatchUp != CatchUpSkip {
		errs = append(errs, fmt.Errorf("catch up %q: use once or skip", s.CatchUp))
	}
	if s.Overlap != OverlapSkip && s.Overlap != OverlapQueue {
		errs = append(errs, fmt.Errorf("overlap %q: use skip or queue", s.Overlap))
	}
	if s.PauseAfter < 1 || s.PauseAfter > 1000 {
		errs = append(errs, fmt.Errorf("pause after %d failed nights: use a number from 1 to 1000", s.PauseAfter))
	}
	return errors.Join(errs...)
}

// batch returns the name of the batch of a due time, which is in UTC: no two due times share one.
func (s Spec) batch(due time.Time) string { return s.Name + "-" + due.UTC().Format("20060102T150405Z") }
