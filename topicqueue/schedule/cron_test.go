package schedule_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"nightdesk/topicqueue/schedule"
)

func at(t testing.TB, text string) time.Time {
	t.Helper()
	out, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestNext(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, cron, zone, after string
		want                    []string // in the zone
	}{
		{"every night", "0 1 * * *", "Europe/Berlin", "2026-01-31T12:00:00Z", []string{"2026-02-01T01:00:00+01:00", "2026-02-02T01:00:00+01:00"}},
		{"no zone", "30 4 * * *", "", "2026-01-31T12:00:00Z", []string{"2026-02-01T04:30:00Z"}},
		{"exactly due is not after", "0 1 * * *", "", "2026-02-01T01:00:00Z", []string{"2026-02-02T01:00:00Z"}},
		{"a night without 02:30", "30 2 * * *", "Europe/Berlin", "2026-03-28T01:31:00Z",
			[]string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"}},
		{"a night with two 02:30", "30 2 * * *", "Europe/Berlin", "2026-10-24T01:00:00Z",
			[]string{"2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"}},
		{"asked between the two", "30 2 * * *", "Europe/Berlin", "2026-10-25T00:45:00Z", []string{"2026-10-26T02:30:00+01:00"}},
		{"several times in a gap are one", "0,15,30 2,3 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z",
			[]string{"2026-03-29T03:00:00+02:00", "2026-03-29T03:15:00+02:00", "2026-03-29T03:30:00+02:00", "2026-03-30T02:00:00+02:00"}},
		{"south: a night without 02:30", "30 2 * * *", "Australia/Sydney", "2026-10-03T12:00:00Z",
			[]string{"2026-10-04T03:00:00+11:00", "2026-10-05T02:30:00+11:00"}},
		{"south: a night with two 02:30", "30 2 * * *", "Australia/Sydney", "2026-04-04T12:00:00Z",
			[]string{"2026-04-05T02:30:00+11:00", "2026-04-06T02:30:00+10:00"}},
		{"half an hour's change", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z",
			[]string{"2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"}},
		{"no midnight", "0 0 * * *", "America/Santiago", "2026-09-05T12:00:00Z",
			[]string{"2026-09-06T01:00:00-03:00", "2026-09-07T00:00:00-03:00"}},
		{"every hour, one is missing", "30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z",
			[]string{"2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00", "2026-03-29T04:30:00+02:00"}},
		{"every hour, one comes twice", "*/30 * * * *", "Europe/Berlin", "2026-10-24T23:59:00Z",
			[]string{"2026-10-25T02:00:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T02:30:00+01:00", "2026-10-25T03:00:00+01:00"}},
		{"a day that a zone skipped", "0 9 * * *", "Pacific/Apia", "2011-12-29T20:00:00Z",
			[]string{"2011-12-31T00:00:00+14:00", "2011-12-31T09:00:00+14:00"}},
		{"macro", "@weekly", "Europe/Berlin", "2026-03-25T00:00:00Z", []string{"2026-03-29T00:00:00+01:00", "2026-04-05T00:00:00+02:00"}},
		{"7 is Sunday", "0 6 * * 7", "", "2026-03-25T00:00:00Z", []string{"2026-03-29T06:00:00Z"}},
		{"to Sunday", "0 6 * * 6-7", "", "2026-03-25T00:00:00Z", []string{"2026-03-28T06:00:00Z", "2026-03-29T06:00:00Z", "2026-04-04T06:00:00Z"}},
		{"names", "0 6 * jan,dec mon-fri", "", "2026-12-31T07:00:00Z", []string{"2027-01-01T06:00:00Z", "2027-01-04T06:00:00Z"}},
		{"day of month or of week", "0 6 13 * 5", "", "2026-03-01T00:00:00Z", []string{"2026-03-06T06:00:00Z", "2026-03-13T06:00:00Z"}},
		{"leap day", "0 0 29 2 *", "", "2026-03-01T00:00:00Z", []string{"2028-02-29T00:00:00Z"}},
		{"every so often", "@every 6h", "Europe/Berlin", "2026-03-29T00:00:00Z", []string{"2026-03-29T08:00:00+02:00", "2026-03-29T14:00:00+02:00"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := schedule.ParseCron(tt.cron, tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			due := at(t, tt.after)
			for i, want := range tt.want {
				if due = c.Next(due); due.Format(time.RFC3339) != want {
					t.Fatalf("due time %d is %s, want %s", i+1, due.Format(time.RFC3339), want)
				}
			}
		})
	}
}

func TestParseCronRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ cron, zone, want string }{
		{"", "", "minute, hour"},
		{"* * * *", "", "minute, hour"},
		{"0 0 1 * * *", "", "minute, hour"},
		{"60 * * * *", "", "60"},
		{"0 25 * * *", "", "25"},
		{"0 0 30 2 *", "", "no such day"},
		{"@reboot", "", "@reboot"},
		{"@every 10s", "", "a minute or more"},
		{"@every soon", "", "@every 6h"},
		{"TZ=", "", "with the separate setting"},
		{"CRON_TZ=UTC 0 0 * * *", "", "with the separate setting"},
		{"0 1 * * *", "Europe/Atlantis", "Europe/Berlin"},
		{"0 1 * * *", "Local", "Europe/Berlin"},
		{"0 1 * * 7-9", "", "7-9"},
	} {
		if _, err := schedule.ParseCron(tt.cron, tt.zone); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q in %q: %v, want an error with %q", tt.cron, tt.zone, err, tt.want)
		}
	}
}

// TestOncePerNamedTime: over two years with all clock changes, a time of day is due once a day. Over one year, an
// hourly schedule is due once in every hour.
func TestOncePerNamedTime(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Europe/Berlin", "Australia/Sydney", "Australia/Lord_Howe", "America/St_Johns", "Africa/Casablanca", "Antarctica/Troll", "America/Santiago", "UTC"} {
		for _, cron := range []string{"30 2 * * *", "15 0 * * *", "0 3 * * *"} {
			c, err := schedule.ParseCron(cron, zone)
			if err != nil {
				t.Fatal(err)
			}
			day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			due := c.Next(time.Date(2025, 12, 31, 12, 0, 0, 0, c.Zone()))
			for range 730 {
				if got := due.Format(time.DateOnly); got != day.Format(time.DateOnly) {
					t.Fatalf("%s in %s: due on %s, want %s", cron, zone, due.Format(time.RFC3339), day.Format(time.DateOnly))
				}
				due, day = c.Next(due), day.AddDate(0, 0, 1)
			}
		}
		c, err := schedule.ParseCron("0 * * * *", zone)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		due, n := c.Next(start), 0
		for ; due.Before(start.AddDate(1, 0, 0)); n++ {
			next := c.Next(due)
			if next.Sub(due) > 90*time.Minute || next.Sub(due) < 30*time.Minute {
				t.Fatalf("hourly in %s: %s after %s", zone, next, due)
			}
			due = next
		}
		if n < 365*24-3 || n > 365*24+3 {
			t.Errorf("hourly in %s: %d due times in a year", zone, n)
		}
	}
}

func FuzzCron(f *testing.F) {
	for _, spec := range []string{"0 1 * * *", "*/7 */2 1-5,10 jan-mar 5-7/2", "@daily", "@every 90m", "TZ=", "7 7 7 7 7", "0 0 31 2 *"} {
		f.Add(spec, "Europe/Berlin", int64(1_774_742_400))
	}
	f.Fuzz(func(t *testing.T, spec, zone string, unix int64) {
		c, err := schedule.ParseCron(spec, zone)
		if err != nil {
			return
		}
		after := time.Unix(unix%4_000_000_000, 0)
		for range 3 {
			next := c.Next(after)
			if next.IsZero() {
				return
			}
			if !next.After(after) {
				t.Fatalf("%q in %q: %s is not after %s", spec, zone, next, after)
			}
			if earlier := c.Next(next.Add(-time.Second)); !strings.HasPrefix(strings.TrimSpace(spec), "@every") && !earlier.Equal(next) {
				t.Fatalf("%q in %q: a second before %s, the next one is %s", spec, zone, next, earlier)
			}
			after = next
		}
	})
}

func TestValues(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"date": "2026-03-29", "yesterday": "2026-03-28", "tomorrow": "2026-03-30", "weekday": "Sunday", "week": "2026-W13",
		"month": "2026-03", "quarter": "2026-Q1", "year": "2026", "time": "03:00",
	}
	got := schedule.Values(time.Date(2026, 3, 29, 3, 0, 0, 0, time.FixedZone("", 7200)))
	if !maps.Equal(got, want) {
		t.Errorf("Values = %v, want %v", got, want)
	}
	for _, name := range schedule.Variables() {
		if got[strings.Trim(name, "{}")] == "" {
			t.Errorf("%s has no value", name)
		}
	}
}
