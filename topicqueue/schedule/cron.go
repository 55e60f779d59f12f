package schedule

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // small images have no time zone data

	"github.com/robfig/cron/v3"
)

// Cron computes the due times of a schedule. The zero value has none.
type Cron struct {
	zone   *time.Location
	wall   cron.Schedule // in local wall clock time, represented as UTC
	hourly bool          // names no hours, so every elapsed hour counts, including a repeated one
	every  time.Duration // used instead of wall
}

// leastEvery is the shortest interval of @every.
const leastEvery = time.Minute

// ParseCron parses five fields (minute, hour, day of month, month, day of week; 0 and 7 are Sunday), one of the
// macros @hourly, @daily (or @midnight), @weekly, @monthly, @yearly (or @annually), or @every with a duration of at
// least a minute, counted from one due time to the next. zone is a name of the IANA database, such as Europe/Berlin;
// empty: UTC.
func ParseCron(spec, zone string) (Cron, error) {
	location, err := loadZone(zone)
	if err != nil {
		return Cron{}, err
	}
	c := Cron{zone: location}
	spec = strings.TrimSpace(spec)
	if text, ok := strings.CutPrefix(spec, "@every "); ok {
		c.every, err = time.ParseDuration(strings.TrimSpace(text))
		if err != nil || c.every < leastEvery || c.every%time.Second != 0 {
			return Cron{}, fmt.Errorf("cron expression %q: @every takes a duration of whole seconds, a minute or more, such "+
				"as @every 6h", spec)
		}
		return c, nil
	}
	if strings.Contains(spec, "=") {
		return Cron{}, fmt.Errorf("cron expression %q: set the time zone with the separate setting", spec)
	}
	// The parser's errors repeat text that it does not understand.
	if len(spec) > maxSpec || strings.ContainsFunc(spec, func(r rune) bool {
		return !strings.ContainsRune(cronSigns, r)
	}) {
		return Cron{}, fmt.Errorf("cron expression %q: use letters, digits and * / , - ? @ only",
			spec[:min(len(spec), maxSpec)])
	}
	fields := strings.Fields(spec)
	if len(fields) == 5 {
		fields[4] = sundays(fields[4])
	}
	parsed, err := cron.ParseStandard(strings.Join(fields, " "))
	if err != nil {
		return Cron{}, fmt.Errorf("cron expression %q: %w; give minute, hour, day of month, month and day of week, such "+
			"as 0 1 * * 1-5", spec, err)
	}
	wall, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return Cron{}, fmt.Errorf("cron expression %q is not known", spec)
	}
	const allHours = 1<<24 - 1
	wall.Location, c.wall, c.hourly = time.UTC, wall, wall.Hour&allHours == allHours
	if wall.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Cron{}, fmt.Errorf("cron expression %q: it never fires, because there is no such day", spec)
	}
	return c, nil
}

const (
	maxSpec   = 200 // bytes
	cronSigns = " \t*/,-?@0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func loadZone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	location, err := time.LoadLocation(name)
	if err != nil || name == "Local" { // differs on every machine
		return nil, fmt.Errorf("time zone %q is not known: use a name of the IANA database, such as Europe/Berlin or UTC",
			name)
	}
	return location, nil
}

// sundays replaces 7, which the parser does not know, with 0 in a day-of-week field. It leaves invalid text to the
// parser.
func sundays(field string) string {
	parts := strings.Split(field, ",")
	for i, part := range parts {
		days, stepText, stepped := strings.Cut(part, "/")
		first, last, ranged := strings.Cut(days, "-")
		if first != "7" && last != "7" || stepped && !ranged {
			continue
		}
		if !ranged {
			parts[i] = "0"
			continue
		}
		from, err1 := strconv.ParseUint(first, 10, 3)
		to, err2 := strconv.ParseUint(last, 10, 3)
		step, err3 := uint64(1), error(nil)
		if stepped {
			step, err3 = strconv.ParseUint(stepText, 10, 3)
		}
		if errors.Join(err1, err2, err3) != nil || from > to || step == 0 {
			continue
		}
		var list []string
		for day := from; day <= to; day += step {
			list = append(list, strconv.FormatUint(day%7, 10))
		}
		parts[i] = strings.Join(list, ",")
	}
	return strings.Join(parts, ",")
}

// Zone returns the time zone, never nil.
func (c Cron) Zone() *time.Location {
	if c.zone == nil {
		return time.UTC
	}
	return c.zone
}

// setBack is longer than any clock in use is ever set back.
const setBack = 3 * time.Hour

// Next returns the first due time after a time, in the schedule's zone; the zero time if there is none.
//
// At clock changes, a schedule with hours fires once for each time that it names. It fires at the first of two times
// called 02:30, and if 02:30 does not exist, at the end of the gap. A schedule without hours fires in every elapsed
// hour.
func (c Cron) Next(after time.Time) time.Time {
	if c.every > 0 {
		return after.Truncate(time.Second).Add(c.every).In(c.zone)
	}
	if c.wall == nil {
		return time.Time{}
	}
	at := wallOf(after.In(c.zone))
	if c.hourly && offsetAt(after.Add(-setBack), c.zone) != offsetAt(after.Add(setBack), c.zone) {
		at = at.Add(-setBack) // the names of these hours may occur again
	}
	var best time.Time
	for at = c.wall.Next(at); !at.IsZero(); at = c.wall.Next(at) {
		first, second, exists := instants(at, c.zone)
		if !best.IsZero() && first.After(best) {
			break
		}
		if c.hourly && !exists {
			continue
		}
		for _, t := range []time.Time{first, second} {
			if t.After(after) && (best.IsZero() || t.Before(best)) {
				best = t
			}
			if !c.hourly {
				break
			}
		}
		if !best.IsZero() && !c.hourly {
			break
		}
	}
	return best
}

// wallOf returns the wall clock time at t, represented as UTC.
func wallOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

func offsetAt(t time.Time, zone *time.Location) int {
	_, offset := t.In(zone).Zone()
	return offset
}

// instants returns when clocks of the zone show wall: once, or twice; if once, second equals first. If they never do,
// exists is false and first is the end of the gap that contains wall.
func instants(wall time.Time, zone *time.Location) (first, second time.Time, exists bool) {
	near := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, zone)
	start, end := near.ZoneBounds()
	times := []time.Time{near}
	if !start.IsZero() {
		times = append(times, start.Add(-1))
	}
	if !end.IsZero() {
		times = append(times, end)
	}
	for _, t := range times {
		// The time at which clocks show wall at the UTC offset of t.
		at := wall.Add(-time.Duration(offsetAt(t, zone)) * time.Second).In(zone)
		if !wallOf(at).Equal(wall) {
			continue
		}
		if !exists || at.Before(first) {
			first = at
		}
		if !exists || at.After(second) {
			second = at
		}
		exists = true
	}
	switch {
	case exists:
	case wallOf(near).After(wall):
		first = start
	default:
		first = end
	}
	if !exists {
		first = first.In(zone)
		second = first
	}
	return first, second, exists
}

// PlainCron returns a cron expression with its zone for programs without this package's handling of clock changes. It
// has the same first due time after the given time. It is the schedule's own expression, except for the rare due time
// that such a program gets wrong; that one is given by its date.
func (s Spec) PlainCron(after time.Time) string {
	c, err := ParseCron(s.Cron, s.Zone)
	if err != nil {
		return ""
	}
	next, zone := c.Next(after), "CRON_TZ="+c.Zone().String()+" "
	if fields := strings.Fields(s.Cron); c.every == 0 {
		if len(fields) == 5 {
			fields[4] = sundays(fields[4])
		}
		own := zone + strings.Join(fields, " ")
		if parsed, err := cron.ParseStandard(own); err == nil && parsed.Next(after).Equal(next) {
			return own
		}
	}
	return zone + fmt.Sprintf("%d %d %d %d ", next.Minute(), next.Hour(), next.Day(), int(next.Month())) + "*"
}
