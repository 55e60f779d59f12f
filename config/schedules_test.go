package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/config"
	"nightdesk/topicqueue/schedule"
)

func loadText(t *testing.T, text string) (config.Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nightdesk.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Load(path, true, func(string) string { return "" }, nil)
}

func TestSchedulesOfAFile(t *testing.T) {
	t.Parallel()
	c, err := loadText(t, `preset: deep
schedules:
  nightly:
    cron: "0 1 * * *"
    timezone: Europe/Berlin
    topics: s3://lists/nightly.txt
    preset: quick
    deadline: 07:00
    overlap: queue
    pause_after: 5
  weekly:
    cron: '@weekly'
    topics: weekly.txt
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []schedule.Spec{
		{Name: "nightly", Cron: "0 1 * * *", Zone: "Europe/Berlin", Topics: "s3://lists/nightly.txt", Preset: "quick", Priority: "normal",
			Deadline: "07:00", CatchUp: "once", Overlap: "queue", PauseAfter: 5},
		{Name: "weekly", Cron: "@weekly", Zone: "UTC", Topics: "weekly.txt", Priority: "normal", CatchUp: "once", Overlap: "skip", PauseAfter: 3},
	}
	if diff := cmp.Diff(want, c.Schedules); diff != "" {
		t.Error(diff)
	}
	for _, s := range want {
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	}
	if c, err := loadText(t, "schedules:\n"); err != nil || len(c.Schedules) != 0 {
		t.Errorf("none: %v, %v", c.Schedules, err)
	}
}

func TestProblemsOfSchedules(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"schedules: [a]":                                 {":1: schedules: must contain settings"},
		"schedules:\n  a: daily":                         {":2: schedules.a: must contain settings"},
		"schedules:\n  a: {cron: 1, topic: x}":           {`schedules.a.cron "1": expected exactly 5 fields`, "schedules.a.topic: unknown setting of a schedule; known settings: cron, timezone, topics"},
		"schedules:\n  a: {cron: '@daily'}":              {":2: schedules.a: a schedule needs a list of topics"},
		"schedules:\n  a: {topics: x}":                   {"minute, hour"},
		"schedules:\n  a b: {cron: '@daily', topics: x}": {`schedule name "a b"`},
		"schedules:\n  a: {cron: '@daily', topics: x}\n  a: {cron: '@daily', topics: x}":    {":3: schedules.a: is set twice; the first is in line 2"},
		"schedules:\n  a: {cron: '@daily', topics: x, timezone: Mars, overlap: both}":       {"schedules.a.timezone \"Mars\"", "one of skip, queue"},
		"schedules:\n  a: {cron: '@daily', topics: [x], priority: urgent, preset: longest}": {"single value", "high, normal, low", "quick, medium, deep, auto"},
	} {
		_, err := loadText(t, text)
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%q:\n%v\nwant %q", text, err, w)
			}
		}
	}
}

func TestNewSchedule(t *testing.T) {
	t.Parallel()
	s, err := config.NewSchedule("a", map[string]string{"cron": "@daily", "topics": "x", "language": "de"})
	if err != nil || s.Language != "de" || s.Zone != "UTC" || s.PauseAfter != schedule.DefaultPauseAfter {
		t.Errorf("%+v, %v", s, err)
	}
	var problems config.Problems
	if _, err := config.NewSchedule("a", map[string]string{"cron": "", "catch_up": "never"}); !errors.As(err, &problems) || len(problems) != 2 {
		t.Errorf("problems are %v", err)
	}
	if _, err := config.NewSchedule("a", nil); err == nil {
		t.Error("a schedule without anything is right")
	}
}
