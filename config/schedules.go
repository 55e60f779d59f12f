package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/schedule"
)

// schedulesPath is the group of the schedules in a settings file.
const schedulesPath = "schedules"

// newSchedule returns a schedule with the defaults of the settings that have one.
func newSchedule(name string) schedule.Spec {
	return schedule.Spec{Name: name, Zone: "UTC", Priority: "normal", CatchUp: schedule.CatchUpOnce,
		Overlap: schedule.OverlapSkip, PauseAfter: schedule.DefaultPauseAfter}
}

// scheduleRows returns the settings of one schedule, bound to s, by their key in the file. They are described at the
// end of nightdesk.example.yaml.
func scheduleRows(s *schedule.Spec) []row {
	return []row{
		{"cron", text(&s.Cron, "a cron expression", cronExpression)},
		{"timezone", text(&s.Zone, "a name of the IANA database", timeZone)},
		{"topics", text(&s.Topics, "a file, a URL or s3://bucket/key", someText)},
		{"template", text(&s.Template, "a text with variables such as {ticker}; empty: none", anyText)},
		{"tags", text(&s.Tags, "tags with commas between them; empty: none", anyText)},
		{"preset", optional(&s.Preset, choice(new(string), PresetNames()...))},
		{"language", optional(&s.Language, text(new(string), "a language tag", languageTag))},
		{"kb", text(&s.KnowledgeBase, "a name or a directory; empty: the setting", anyText)},
		{"strategy", optional(&s.Strategy, choice(new(string), strategyNames...))},
		{"sources", text(&s.Sources, sourcesAllowed, checkSources)},
		{"priority", choice(&s.Priority, "high", "normal", "low")},
		{"budget", optional(&s.Budget, budget(new(topicqueue.Budget)))},
		{"batch_budget", optional(&s.BatchBudget, budget(new(topicqueue.Budget)))},
		{"deadline", optional(&s.Deadline, timeOfDay(new(string)))},
		{"report_template", text(&s.ReportTemplate, "a file; empty: the setting", anyText)},
		{"audio", optional(&s.Audio, choice(new(string), audioSettings...))},
		{"incremental", toggle(&s.Incremental)},
		{"catch_up", choice(&s.CatchUp, schedule.CatchUpOnce, schedule.CatchUpSkip)},
		{"overlap", choice(&s.Overlap, schedule.OverlapSkip, schedule.OverlapQueue)},
		{"pause_after", number(&s.PauseAfter, 1, 1000, "nights")},
	}
}

// ScheduleSetting is a setting of a schedule.
type ScheduleSetting struct {
	Key, Value string // as in the settings file
	Doc        string
	Overrides  string // path of the setting that it overrides for its runs, if it has a value; empty: none
}

// overridden maps settings of schedules to the settings that they override.
var overridden = map[string]string{"preset": "preset", "language": "language", "kb": "kb_name",
	"strategy": "researching.strategy", "sources": "researching.sources", "budget": "limits.run_budget",
	"report_template": "reporting.template", "audio": "reporting.audio"}

// ScheduleSettings returns the settings of a schedule, in the order of nightdesk.example.yaml.
func ScheduleSettings(s schedule.Spec) (settings []ScheduleSetting) {
	for _, r := range scheduleRows(&s) {
		settings = append(settings, ScheduleSetting{r.path, r.reveal(), documented()[schedulesPath+"."+r.path].doc,
			overridden[r.path]})
	}
	return settings
}

// optional is a text that may be empty or must pass the check of v.
func optional(p *string, v value) value {
	return text(p, v.allowed, func(s string) error {
		if s == "" {
			return nil
		}
		return v.set(s)
	})
}

// timeOfDay is a time such as 07:00.
func timeOfDay(p *string) value {
	return text(p, "a time of day", func(s string) error {
		if _, err := time.Parse("15:04", s); err != nil {
			return errors.New("must be a time of day such as 07:00")
		}
		return nil
	})
}

// NewSchedule returns a schedule with the given values, and defaults for the other settings. values: by key of the
// settings file. The error is a Problems about invalid values.
func NewSchedule(name string, values map[string]string) (schedule.Spec, error) {
	s := newSchedule(name)
	var problems Problems
	for _, r := range scheduleRows(&s) {
		value, given := values[r.path]
		if !given {
			continue
		}
		if err := r.set(value); err != nil {
			problems = append(problems, Problem{Key: r.path, Value: clip(value), Reason: err.Error()})
		}
	}
	if len(problems) == 0 {
		problems = checkSchedule(s, "", "")
	}
	return s, problems.err()
}

// checkSchedule checks the combination of a schedule's settings.
func checkSchedule(s schedule.Spec, key, source string) (problems Problems) {
	err := s.Check()
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			problems = append(problems, Problem{Key: key, Source: source, Reason: err.Error()})
		}
	}
	return problems
}

// walkSchedules reads the schedules of a file.
func (w *walker) walkSchedules(node ast.Node) {
	w.pairs(schedulesPath, node, func(line int, name string, settings ast.Node) {
		path := schedulesPath + "." + name
		if w.twice(line, path) {
			return
		}
		s, before := newSchedule(name), len(w.problems)
		rows := scheduleRows(&s)
		w.pairs(path, settings, func(line int, key string, node ast.Node) {
			at := slices.IndexFunc(rows, func(r row) bool { return r.path == key })
			if at < 0 {
				var keys []string
				for _, r := range rows {
					keys = append(keys, r.path)
				}
				w.problem(line, path+"."+key, "unknown setting of a schedule; known settings: "+strings.Join(keys, ", "))
				return
			}
			if value, ok := w.value(line, path+"."+key, node); ok {
				if err := rows[at].set(strings.TrimSpace(value)); err != nil {
					w.problems = append(w.problems, Problem{Key: clip(path + "." + key), Value: clip(value),
						Source: w.source(line), Reason: err.Error()})
				}
			}
		})
		if len(w.problems) == before {
			w.problems = append(w.problems, checkSchedule(s, clip(path), w.source(line))...)
		}
		w.schedules = append(w.schedules, s)
	})
}

// cronExpression and timeZone remove the value from their errors, because a Problem already contains it.
func cronExpression(text string) error {
	_, err := schedule.ParseCron(text, "")
	return withoutValue(err, "cron expression", text)
}

func timeZone(text string) error {
	_, err := schedule.ParseCron("@daily", text)
	return withoutValue(err, "time zone", text)
}

func withoutValue(err error, what, value string) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.TrimLeft(strings.TrimPrefix(err.Error(), fmt.Sprintf("%s %q", what, value)), ": "))
}
