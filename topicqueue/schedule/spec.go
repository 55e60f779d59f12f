// Package schedule determines when a recurring batch is due and tracks each of its due times, with types and pure
// functions. It uses no clock, Redis or queue. Start reading with Record.Advance. Cron defines the meaning of a cron
// expression across clock changes.
package schedule

import (
	"errors"
	"fmt"
	"regexp"
	"time"
)

// Treatment of due times at which no scheduler ran.
const (
	CatchUpOnce = "once" // the latest one is fired, the others are recorded as missed
	CatchUpSkip = "skip" // all are recorded as missed
)

// Treatment of a due time while the previous batch is still running.
const (
	OverlapSkip  = "skip"  // it is recorded as skipped
	OverlapQueue = "queue" // it waits until that batch has ended; further due times meanwhile are skipped
)

// DefaultPauseAfter is the number of consecutive failed nights after which a schedule pauses itself.
const DefaultPauseAfter = 3

// Spec is a schedule as defined by the user. Specs with equal fields are equal.
type Spec struct {
	Name string `json:"name"`
	Cron string `json:"cron"`
	Zone string `json:"timezone"` // IANA name
	// list of topics: an absolute path, a URL or s3://bucket/key; read at each firing
	Topics        string `json:"topics"`
	Template      string `json:"template,omitempty"` // builds topics from the columns of the list
	Tags          string `json:"tags,omitempty"`     // tags of all topics, separated by commas
	Preset        string `json:"preset,omitempty"`
	Language      string `json:"language,omitempty"`
	KnowledgeBase string `json:"kb,omitempty"` // name or directory; read at each firing
	Strategy      string `json:"strategy,omitempty"`
	Sources       string `json:"sources,omitempty"`
	Priority      string `json:"priority,omitempty"`
	Budget        string `json:"budget,omitempty"`       // for each run, in the form of topicqueue.ParseBudget
	BatchBudget   string `json:"batch_budget,omitempty"` // for all runs of one firing together
	// time of day in the schedule's zone, the next one after a firing
	Deadline       string `json:"deadline,omitempty"`
	ReportTemplate string `json:"report_template,omitempty"` // absolute path; read at each firing
	Audio          string `json:"audio,omitempty"`           // how the reports are read aloud
	Incremental    bool   `json:"incremental,omitempty"`     // each topic updates its last run
	CatchUp        string `json:"catch_up"`
	Overlap        string `json:"overlap"`
	PauseAfter     int    `json:"pause_after"` // consecutive failed nights
}

var validName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$`)

// Check returns all errors of a spec, or nil. It does not check the topics or the research options.
func (s Spec) Check() error {
	var errs []error
	if !validName.MatchString(s.Name) {
		errs = append(errs, fmt.Errorf("schedule name %q: use at most 64 characters: letters, digits, - _ and dots", s.Name))
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

// batch returns the name of the batch of a due time, unique because the time is in UTC.
func (s Spec) batch(due time.Time) string { return s.Name + "-" + due.UTC().Format("20060102T150405Z") }
