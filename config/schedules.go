package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/schedule"
)

// schedulesPath is the group of the schedules in a settings file.
const schedulesPath = "schedules"

// maxSchedules is the maximum number of schedules in a file.
const maxSchedules = 1000

// scheduleFields returns the settings of one schedule, bound to s.
func scheduleFields(s *schedule.Spec) []field {
	return []field{
		setting("cron", "", "",
			"when it fires: minute, hour, day of month, month, day of week, or @daily, @weekly, ..., @every 6h",
			text(&s.Cron, "a cron expression", cronExpression)),
		setting("timezone", "UTC", "", "time zone of cron and deadline, such as Europe/Berlin",
			text(&s.Zone, "a name of the IANA database", timeZone)),
		setting("topics", "", "", "list of topics, read at each firing: a file, a URL or s3://bucket/key",
			text(&s.Topics, "a file, a URL or s3://bucket/key", someText)),
		setting("template", "", "", "topic with column names as variables; empty: the column topic",
			text(&s.Template, "a text with variables such as {ticker}; empty: none", anyText)),
		setting("tags", "", "", "tags of all topics, comma-separated",
			text(&s.Tags, "tags with commas between them; empty: none", anyText)),
		setting("preset", "", "", "as --preset; empty: the setting",
			optional(&s.Preset, "a preset; empty: the setting", choice(new(string), PresetNames()...))),
		setting("language", "", "", "language of the reports; empty: the setting",
			optional(&s.Language, "a language tag; empty: the setting", text(new(string), "", languageTag))),
		setting("kb", "", "", "name of a knowledge base, or a directory, which is indexed at each firing; empty: the setting",
			text(&s.KnowledgeBase, "a name or a directory; empty: the setting", anyText)),
		setting("strategy", "", "", "exploratory, balanced or focused; empty: the setting",
			optional(&s.Strategy, "a strategy; empty: the setting",
				choice(new(string), strategyExploratory, strategyBalanced, strategyFocused))),
		setting("sources", "", "", "allowed kinds of sources, comma-separated: kb, web, papers, code, own; "+
			"empty: the setting",
			text(&s.Sources, sourcesAllowed, checkSources)),
		setting("priority", "normal", "", "priority of the runs",
			choice(&s.Priority, "high", "normal", "low")),
		setting("budget", "", "", "budget of a run for models; empty: the setting",
			optional(&s.Budget, topicqueue.BudgetAllowed, budget(new(topicqueue.Budget)))),
		setting("batch_budget", "", "", "budget of all runs of one firing together; empty: no limit",
			optional(&s.BatchBudget, topicqueue.BudgetAllowed, budget(new(topicqueue.Budget)))),
		setting("deadline", "", "", "time of day at which the reports are due, such as 07:00; empty: none",
			optional(&s.Deadline, "a time of day; empty: none", timeOfDay(new(string)))),
		setting("report_template", "", "", "file with the sections of the reports, read at each firing; empty: the setting",
			text(&s.ReportTemplate, "a file; empty: the setting", anyText)),
		setting("audio", "", "", "as --audio; empty: the setting",
			optional(&s.Audio, strings.Join(audioSettings, ", ")+"; empty: the setting",
				choice(new(string), audioSettings...))),
		setting("incremental", "false", "",
			"update the last report on each topic: research only what changed and list the changes first",
			toggle(&s.Incremental)),
		setting("catch_up", schedule.CatchUpOnce, "",
			"after missed due times; once: fire the latest",
			choice(&s.CatchUp, schedule.CatchUpOnce, schedule.CatchUpSkip)),
		setting("overlap", schedule.OverlapSkip, "",
			"if the previous batch is still running; queue: fire when it has ended",
			choice(&s.Overlap, schedule.OverlapSkip, schedule.OverlapQueue)),
		setting("pause_after", strconv.Itoa(schedule.DefaultPauseAfter), "nights",
			"number of consecutive failed nights after which the schedule pauses",
			number(&s.PauseAfter, 1, 1000)),
	}
}

// optional is a text that may be empty or must pass the check of v. allowed describes it.
func optional(p *string, allowed string, v value) value {
	return text(p, allowed, func(s string) error {
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
	s := schedule.Spec{Name: name}
	var problems Problems
	for _, f := range scheduleFields(&s) {
		value, given := values[f.Path]
		if !given {
			value = f.Default
		}
		if value == "" && !given {
			continue
		}
		if err := f.set(value); err != nil {
			problems = append(problems, Problem{Key: f.Path, Value: clip(value), Reason: err.Error()})
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
	group, ok := node.(*ast.MappingNode)
	if !ok {
		if _, none := node.(*ast.NullNode); !none {
			w.problem(lineOf(node), schedulesPath, "must map schedule names to their settings")
		}
		return
	}
	for _, pair := range group.Values {
		line := lineOf(pair.Key)
		if len(w.problems) >= maxProblems || len(w.schedules) >= maxSchedules {
			w.cut = true
			return
		}
		name, ok := scalar(pair.Key)
		path := schedulesPath + "." + name
		if !ok || w.twice(line, path) {
			if !ok {
				w.problem(line, schedulesPath, "has a name that is not a plain string")
			}
			continue
		}
		w.walkSchedule(line, name, path, pair.Value)
	}
}

func (w *walker) walkSchedule(line int, name, path string, node ast.Node) {
	group, ok := node.(*ast.MappingNode)
	if !ok {
		w.problem(line, path, "must contain settings as key: value, at least cron and topics")
		return
	}
	s, before := schedule.Spec{Name: name}, len(w.problems)
	fields := map[string]field{}
	var keys []string
	for _, f := range scheduleFields(&s) {
		fields[f.Path], keys = f, append(keys, f.Path)
		if f.Default != "" {
			_ = f.set(f.Default) // a test sets all defaults
		}
	}
	for _, pair := range group.Values {
		line := lineOf(pair.Key)
		key, _ := scalar(pair.Key)
		f, known := fields[key]
		switch {
		case !known:
			w.problem(line, path+"."+key, "unknown setting of a schedule; known settings: "+strings.Join(keys, ", "))
			continue
		case w.twice(line, path+"."+key), pair.Value.Type() == ast.NullType:
			continue
		}
		value, ok := scalar(pair.Value)
		if !ok {
			w.problem(line, path+"."+key, "must be a single value without anchor, alias or tag")
			continue
		}
		if err := f.set(strings.TrimSpace(value)); err != nil {
			w.problems = append(w.problems, Problem{Key: clip(path + "." + key), Value: clip(value), Source: w.source(line),
				Reason: err.Error()})
		}
	}
	if len(w.problems) == before {
		w.problems = append(w.problems, checkSchedule(s, clip(path), w.source(line))...)
	}
	w.schedules = append(w.schedules, s)
}

// scheduleExample returns the schedules section of an example file.
func scheduleExample() string {
	var b strings.Builder
	b.WriteString("\n# Recurring batches by name, which `nightdesk scheduler` fires. Remove the \"# \" before the " +
		"lines of one.\nschedules:\n  # nightly:\n")
	for _, f := range scheduleFields(new(schedule.Spec)) {
		value := exampleValue(f.Setting)
		switch f.Path {
		case "cron":
			value = `"0 1 * * *"`
		case "topics":
			value = "topics.txt"
		}
		b.WriteString("  #   # " + describeSetting(f.Setting) + "\n  #   " + f.Path + ": " + value + "\n")
	}
	return b.String()
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
