package schedules

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/bases"
	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs/nights"
	"nightdesk/pipeline/reporting/template"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/schedule"
)

// normalSpec makes the file paths of a schedule absolute, because another process reads the files.
func (d Desk) normalSpec(ctx context.Context, spec schedule.Spec) (schedule.Spec, error) {
	var err error
	if spec.Topics, err = intake.NormalSource(spec.Topics); err != nil {
		return spec, err
	}
	if spec.ReportTemplate != "" && !slices.Contains(template.Names(), spec.ReportTemplate) {
		if spec.ReportTemplate, err = filepath.Abs(spec.ReportTemplate); err != nil {
			return spec, fmt.Errorf("template of reports %s: %w", spec.ReportTemplate, err)
		}
	}
	kb := spec.KnowledgeBase
	if _, err := os.Stat(kb); kb == "" || err != nil {
		return spec, nil
	}
	names, err := bases.New(d.Config, d.Console).Names(ctx)
	if err != nil || slices.Contains(names, kb) { // names take precedence
		return spec, err
	}
	if spec.KnowledgeBase, err = filepath.Abs(kb); err != nil {
		return spec, fmt.Errorf("knowledge base %s: %w", kb, err)
	}
	return spec, nil
}

// scheduler returns a scheduler that reads topics and options with the settings of this process.
func (d Desk) scheduler(ctx context.Context) (*nights.Scheduler, error) {
	store, err := wiring.OpenWritableStore(ctx, d.Config, d.Console)
	if err != nil {
		return nil, err
	}
	if _, _, err := wiring.Outlets(d.Config, d.Desk); err != nil { // check only: workers send the notifications
		return nil, err
	}
	read := d.Read
	if read == nil {
		read = d.read
	}
	return nights.New(nights.Services{Redis: d.Redis, Queue: d.Queue, Dispatcher: d.Dispatcher, Store: store,
		Log: d.Console.Log, Now: d.Clock.Now, Read: read}), nil
}

// read reads what a schedule enqueues at a due time. now is the time of firing, which is later than due when the
// scheduler catches up.
func (d Desk) read(ctx context.Context, spec schedule.Spec, due, now time.Time) (shot nights.Snapshot, err error) {
	cfg, flags, err := d.settings(spec, now)
	if err != nil {
		return shot, err
	}
	quiet := &view.Console{Out: io.Discard, Err: io.Discard, Log: d.Console.Log} // only errors matter here
	list, err := d.list(ctx, cfg, spec, flags, due, now)
	if err != nil {
		return shot, view.WithHint(err)
	}
	if err := bases.New(cfg, quiet).PublishAll(ctx, cfg.KBName, list); err != nil {
		return shot, view.WithHint(err)
	}
	shot.Options = list.Options
	for _, t := range list.Topics {
		shot.Topics = append(shot.Topics, nights.Topic{Topic: t.Topic, Options: t.Options, Lane: t.Lane,
			Labels: topicqueue.Labels{Ref: t.Ref, Tags: t.Tags}, Deadline: t.Deadline})
	}
	return shot, nil
}

// Zone returns the time zone of a schedule.
func Zone(spec schedule.Spec) *time.Location {
	c, err := schedule.ParseCron(spec.Cron, spec.Zone)
	if err != nil {
		return time.UTC // an invalid schedule never fires
	}
	return c.Zone()
}

// settings loads the settings of a schedule. It reads the settings file again, so that changes take effect at the next
// firing.
func (d Desk) settings(spec schedule.Spec, now time.Time) (cfg config.Config, f intake.Flags, err error) {
	f.Incremental = spec.Incremental
	own := map[string]string{}
	for _, s := range config.ScheduleSettings(spec) {
		if s.Overrides != "" && s.Value != "" {
			own[s.Overrides] = s.Value
		}
	}
	if f.BatchBudget, err = topicqueue.ParseBudget(spec.BatchBudget); err != nil {
		return cfg, f, err
	}
	if spec.Deadline != "" {
		deadline, err := intake.DeadlineAt(spec.Deadline, now.In(Zone(spec)))
		if err != nil {
			return cfg, f, err
		}
		f.Deadline = deadline.Format(time.RFC3339)
	}
	cfg, err = d.Load(own)
	return cfg, f, err
}

// list reads and checks the topics of a schedule and fills in its variables.
func (d Desk) list(ctx context.Context, cfg config.Config, spec schedule.Spec, f intake.Flags,
	due, now time.Time) (*intake.List, error) {
	source, err := intake.OpenSource(ctx, cfg, d.Desk, spec.Topics)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	name := strings.TrimSuffix(intake.ShownSource(spec.Topics), "?[redacted]")
	text, err := io.ReadAll(io.LimitReader(source, intake.MaxList+1))
	if err != nil {
		return nil, fmt.Errorf("read topics from %s: %w", name, err)
	}
	if len(text) > intake.MaxList {
		return nil, fmt.Errorf("list of topics %s: more than %d bytes: split it between schedules", name, intake.MaxList)
	}
	local := bases.New(cfg, d.Console)
	kb, _, err := local.Find(ctx, cfg.KBName)
	if err != nil {
		return nil, err
	}
	names, err := local.Names(ctx)
	if err != nil {
		return nil, err
	}
	list, err := intake.Read(ctx, cfg, bytes.NewReader(text), intake.Request{
		Flags: f, KB: kb, Bases: names, File: name, Priority: spec.Priority, Template: spec.Template,
		Variables: schedule.Values(due.In(Zone(spec))),
		Tags:      strings.Split(spec.Tags, ","), Now: now.In(Zone(spec)),
	})
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(list.Invalid(), list.Empty()); err != nil {
		return nil, err
	}
	return list, nil
}
