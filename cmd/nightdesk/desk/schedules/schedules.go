// Package schedules adds, shows, changes and fires recurring batches.
//
// Entry point: [Desk].
package schedules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs/nights"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/schedule"
)

// Desk is the schedules of a queue. All times are those of the clock of Redis.
type Desk struct {
	*wiring.Desk
	Config  config.Config
	Console *view.Console // for notes about lists of topics
	// Load loads the settings again, with more overrides. Each firing does so.
	Load func(more map[string]string) (config.Config, error)
	// Read replaces the reading of a list of topics at a firing, in tests.
	Read func(ctx context.Context, spec schedule.Spec, due, now time.Time) (nights.Snapshot, error)
}

// Schedule is a schedule with its next due times.
type Schedule struct {
	schedule.Record
	Topics string      `json:"topics" jsonschema:"where its list of topics is read, without a key in the address"`
	Next   []time.Time `json:"next" jsonschema:"due times to come; none while it is paused"`
}

// ScheduleList is the list of all schedules.
type ScheduleList struct {
	Schedules  []Schedule `json:"schedules"`
	Schedulers int        `json:"schedulers" jsonschema:"number of running schedulers; without one, no schedule fires"`
	Declared   []string   `json:"declared,omitempty" jsonschema:"in the settings file; loaded when a scheduler starts"`
}

func (d Desk) of(r schedule.Record) Schedule {
	const next = 5
	return Schedule{Record: r, Topics: intake.ShownSource(r.Topics),
		Next: append([]time.Time{}, r.Upcoming(d.Clock.Now(), next)...)}
}

// List returns all schedules.
func (d Desk) List(ctx context.Context) (ScheduleList, error) {
	list := ScheduleList{Schedules: []Schedule{}}
	records, err := d.Queue.Schedules(ctx)
	if err != nil {
		return list, err
	}
	for _, r := range records {
		list.Schedules = append(list.Schedules, d.of(r))
	}
	list.Declared = schedule.Missing(d.Config.Schedules, records)
	list.Schedulers, err = d.Dispatcher.Schedulers()
	return list, err
}

// Show returns one schedule.
func (d Desk) Show(ctx context.Context, name string) (Schedule, error) {
	r, err := d.Queue.Schedule(ctx, name)
	return d.of(r), d.known(ctx, name, err)
}

// Pause stops a schedule from firing until it is resumed.
func (d Desk) Pause(ctx context.Context, name, reason string) (Schedule, error) {
	return d.change(ctx, name, func(r *schedule.Record) { r.Pause(reason, d.Clock.Now()) })
}

// Resume resumes a paused schedule.
func (d Desk) Resume(ctx context.Context, name string) (Schedule, error) {
	return d.change(ctx, name, func(r *schedule.Record) { r.Resume(d.Clock.Now()) })
}

func (d Desk) change(ctx context.Context, name string, do func(*schedule.Record)) (Schedule, error) {
	r, err := d.Queue.ChangeSchedule(ctx, name, func(r *schedule.Record) error { do(r); return nil })
	return d.of(r), d.known(ctx, name, err)
}

// Remove removes a schedule and returns it. Its batches stay.
func (d Desk) Remove(ctx context.Context, name string) (Schedule, error) {
	found, err := d.Show(ctx, name)
	if err == nil {
		_, err = d.Queue.RemoveSchedule(ctx, name)
	}
	return found, err
}

// Fire enqueues the topics of a schedule now, whatever its due times.
func (d Desk) Fire(ctx context.Context, name string) (f schedule.Firing, err error) {
	scheduler, err := d.scheduler(ctx)
	if err == nil {
		f, err = scheduler.Fire(ctx, name)
	}
	if view.KindOf(err) == view.Misuse { // of the schedule, not of this call
		err = view.Refused(err, cmp.Or(view.HintOf(err), "`nightdesk schedule show "+name+"` shows its settings."))
	}
	return f, d.known(ctx, name, err)
}

// known returns err, or if it means that there is no schedule of this name, an error that lists the existing ones.
func (d Desk) known(ctx context.Context, name string, err error) error {
	if !errors.Is(err, redisqueue.ErrNoSchedule) {
		return err
	}
	records, listErr := d.Queue.Schedules(ctx)
	if listErr != nil {
		return listErr
	}
	names := []string{}
	for _, r := range records {
		names = append(names, r.Name)
	}
	if len(names) == 0 {
		names = []string{"none yet"}
	}
	return view.NotFound(fmt.Errorf("there is no schedule %q", name), "There are: "+strings.Join(names, ", "))
}

// Added is a schedule that was added.
type Added struct {
	Schedule
	Did   string `json:"-"` // added, changed or unchanged
	Count int    `json:"-"` // number of topics
}

// Add adds a schedule or, with replace, changes an existing one and keeps its history. It checks that the schedule is
// due some time and that its list and sources can be used, rather than at night.
func (d Desk) Add(ctx context.Context, spec schedule.Spec, replace bool) (added Added, err error) {
	if spec, err = d.normalSpec(ctx, spec); err != nil {
		return added, err
	}
	name, now := spec.Name, d.Clock.Now()
	if _, err := d.Queue.Schedule(ctx, name); err == nil && !replace {
		return added, view.Refused(fmt.Errorf("there is a schedule %q already", name),
			"Change it with --replace, or look at it with `nightdesk schedule show "+name+"`.")
	} else if err != nil && !errors.Is(err, redisqueue.ErrNoSchedule) {
		return added, err
	}
	next := spec.Next(now, 1)
	if len(next) == 0 {
		return added, view.Usage(view.Hint(fmt.Errorf("cron expression %q is never due", spec.Cron),
			"Does its month have that day? Fields are minute, hour, day of month, month, day of week."))
	}
	if added.Count, err = d.checkList(ctx, spec, next[0], now); err != nil {
		return added, err
	}
	if added.Did, err = d.put(ctx, spec, false); err == nil {
		added.Schedule, err = d.Show(ctx, name)
	}
	return added, err
}

// checkList reads the list of a schedule as at a firing, and returns the number of topics.
func (d Desk) checkList(ctx context.Context, spec schedule.Spec, due, now time.Time) (topics int, err error) {
	cfg, flags, err := d.settings(spec, now)
	if err != nil {
		return 0, err
	}
	list, err := d.list(ctx, cfg, spec, flags, due, now)
	if err != nil {
		return 0, view.Usage(err)
	}
	for _, note := range list.Notes {
		d.Console.Say("%s", note)
	}
	if len(list.Unknown) > 0 {
		d.Console.Say("%s in topics is not a variable and stays as it is. The variables are %s",
			strings.Join(list.Unknown, " "), strings.Join(schedule.Variables(), " "))
	}
	return len(list.Topics), nil
}

// put adds a schedule, or updates the spec of the existing one and keeps its history. It says what it did.
func (d Desk) put(ctx context.Context, spec schedule.Spec, declared bool) (did string, err error) {
	now := d.Clock.Now()
	r := schedule.New(spec, now)
	r.Declared = declared
	if added, err := d.Queue.AddSchedule(ctx, r); err != nil || added {
		return "added", err
	}
	_, err = d.Queue.ChangeSchedule(ctx, spec.Name, func(r *schedule.Record) error {
		did = "changed"
		if r.Spec == spec {
			did = "unchanged"
		}
		r.Respec(spec, now)
		r.Declared = declared
		return nil
	})
	return did, err
}

// Intervals of a scheduler. It also looks at every due time.
const (
	lookInterval  = 5 * time.Second
	boardInterval = 5 * time.Second
)

// Run fires the schedules until ctx ends. It first stores those of the settings file.
func (d Desk) Run(ctx context.Context) error {
	scheduler, err := d.scheduler(ctx)
	if err != nil {
		return err
	}
	for _, spec := range d.Config.Schedules {
		if spec, err = d.normalSpec(ctx, spec); err != nil {
			return fmt.Errorf("schedule %s of the settings file: %w", spec.Name, err)
		}
		if _, err := d.put(ctx, spec, true); err != nil {
			return err
		}
	}
	records, err := d.Queue.Schedules(ctx)
	if err != nil {
		return err
	}
	for _, r := range records {
		here := slices.ContainsFunc(d.Config.Schedules, func(s schedule.Spec) bool { return s.Name == r.Name })
		if r.Declared && !here {
			d.Console.Log.Warn().Str("schedule", r.Name).Msg("schedule comes from a settings file but is not in this one; " +
				"it continues until `nightdesk schedule remove`")
		}
	}
	if err := scheduler.Start(ctx, nights.Settings{LookInterval: lookInterval, Heartbeat: boardInterval}); err != nil {
		return err
	}
	d.Console.Log.Info().Msg("scheduler started; stop it with Ctrl-C or SIGTERM")
	<-ctx.Done()
	scheduler.Stop()
	d.Console.Log.Info().Msg("scheduler stopped")
	return nil
}

// Outcome describes a firing: its state with the results of its runs or the reason.
func Outcome(f schedule.Firing) string {
	text := Runs(f)
	if f.Reason != "" && (text == "" || f.State == schedule.Open) {
		text = f.Reason
	}
	return strings.TrimSuffix(string(f.State)+": "+text, ": ")
}

// Runs summarizes the results of the runs of a firing.
func Runs(f schedule.Firing) string {
	if f.State == schedule.Open {
		return fmt.Sprintf("%d of %d enqueued", f.Done, f.Topics)
	}
	var parts []string
	for _, c := range []struct {
		n    int
		word string
	}{{f.Broken, "failed"}, {f.Cancelled, "cancelled"}, {f.Partial, "partial"}, {f.Completed, "completed"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.word))
		}
	}
	if len(parts) == 0 && f.Topics > 0 {
		return fmt.Sprintf("%d topics", f.Topics)
	}
	return strings.Join(parts, ", ")
}
