package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// enqueueFlags are the flags of enqueue.
type enqueueFlags struct {
	intake.Request
	dedupe      string
	skipInvalid bool
	dryRun      bool
}

func enqueueCommand(p *program) *cobra.Command {
	var f enqueueFlags
	cmd := &cobra.Command{
		Use:   "enqueue FILE|-",
		Short: "Put a list of topics into the queue: text, CSV or JSON Lines",
		Long: `Put a list of topics into the queue.

The list is text, CSV or JSON Lines. Text has one topic per line; empty lines and lines that begin
with "# " are ignored. CSV has a header row with a column topic. JSON Lines have one object per line
with a field topic. Further columns set options of a single topic and override the command line:
preset, priority, language, kb, tags, id, strategy, sources, duration, budget, deadline,
citation_style, report_template, plan, user_info, length, audience, audio. Use --template to build
topics from other columns: "What changed at {ticker} in {year}?".

A batch has one run per topic, and one run per id even if the topic's wording changed. So enqueueing
a file into a batch again adds only new topics. An id that occurs twice in a list is an error.
--dedupe sets how near duplicates are handled; topics that are already in the batch stay as they
are. A file with errors is rejected as a whole, unless you give --skip-invalid.`,
		Args: cobra.ExactArgs(1),
		RunE: p.command(f.run),
	}
	addTopicFlags(p, cmd, &f.Flags)
	addAttach(cmd, &f.Flags)
	addBatchBudget(cmd, &f.Flags)
	flags := cmd.Flags()
	flags.StringVar(&f.Batch, "batch", "", "name of the batch (default: a new one)")
	flags.StringVar(&f.Priority, "priority", "normal", "high, normal or low")
	flags.StringVar(&f.Format, "format", "auto", "text, csv, jsonl or auto (by file name and first line)")
	flags.StringVar(&f.Template, "template", "",
		`topic with column names as variables: "What changed at {ticker} in {year}?"`)
	flags.StringVar(&f.dedupe, "dedupe", intake.Keep,
		"near duplicates: keep all, skip all but the first, or merge tags, priority and deadline into the first")
	flags.StringSliceVar(&f.Tags, "tag", nil, "tag of all topics; may be given several times")
	flags.BoolVar(&f.skipInvalid, "skip-invalid", false, "enqueue the valid lines of a list with errors")
	flags.BoolVar(&f.dryRun, "dry-run", false, "check the list and estimate its cost, without enqueueing it")
	return cmd
}

func (f *enqueueFlags) run(ctx context.Context, cfg config.Config, con *view.Console, args []string) (err error) {
	f.File = args[0]
	switch f.dedupe {
	case intake.Keep, intake.Skip, intake.Merge:
	default:
		return view.Usage(fmt.Errorf("--dedupe %q is unknown: use keep, skip or merge", f.dedupe))
	}
	if f.Batch != "" {
		if err := checkBatchName(f.Batch); err != nil {
			return err
		}
	}
	attached, err := newBases(cfg, con).attach(ctx, f.Attach)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, attached.Close()) }()
	cfg.Attached = attached != nil
	list, err := f.open(ctx, cfg, con)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, list.Close()) }()
	if err := showProblems(con, list, f.skipInvalid); err != nil {
		return err
	}
	if len(list.Lines) == 0 {
		return view.Usage(fmt.Errorf("there is no topic in %s: give one per line", list.Name))
	}
	plan, err := intake.NewPlan(con, list, f.dedupe)
	if err != nil {
		return err
	}
	if f.dryRun {
		for i := range list.Options {
			list.Options[i].Attached = attached.name()
		}
		if list.Apart != nil {
			con.Say("not compared with what batch %s has: %v", f.Batch, list.Apart)
		}
		return showEstimate(ctx, cfg, con, list, plan, f.Batch)
	}
	if list.Apart != nil {
		return list.Apart
	}
	return submitList(ctx, cfg, con, list, plan, attached, f.Batch)
}

func (f *enqueueFlags) open(ctx context.Context, cfg config.Config, con *view.Console) (*intake.List, error) {
	in := con.In
	if f.File != "-" {
		file, err := os.Open(f.File)
		if err != nil {
			return nil, view.Usage(fmt.Errorf("read topics: %w", err))
		}
		defer file.Close()
		in = file
	}
	var err error
	if f.KB, _, err = newBases(cfg, con).find(ctx, cfg.KBName); err != nil {
		return nil, err
	}
	return intake.Read(ctx, cfg, con, in, f.Request)
}

// showProblems prints the invalid lines of a list. It returns them as an error unless skipInvalid is set.
func showProblems(con *view.Console, list *intake.List, skipInvalid bool) error {
	if len(list.Unused) > 0 {
		con.Say("%s: not used: %s", list.ShortName(), strings.Join(list.Unused, ", "))
	}
	if list.Problems.Count == 0 {
		return nil
	}
	text := fmt.Sprintf("%d of the lines of %s cannot be enqueued:\n  %s", list.Problems.Count, list.Name,
		list.Problems.Text())
	if !skipInvalid {
		return view.Usage(view.Hint(errors.New(text),
			"Nothing was enqueued. Correct them, or leave them out with --skip-invalid."))
	}
	con.Say("%s", text)
	return nil
}

// submitChunk is the number of topics added to the queue at a time.
const submitChunk = 500

// submitList opens the queue and adds the topics of a list.
func submitList(ctx context.Context, cfg config.Config, con *view.Console, list *intake.List, plan *intake.Plan,
	attached *attachment, batch string) (err error) {
	d, err := wiring.OpenWorkingDesk(ctx, cfg, con, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return submitTo(ctx, cfg, con, d, list, plan, attached, batch)
}

// submitTo adds the topics of a list to the queue of d.
func submitTo(ctx context.Context, cfg config.Config, con *view.Console, d *wiring.Desk, list *intake.List,
	plan *intake.Plan, attached *attachment, batch string) error {
	if err := publishBases(ctx, newBases(cfg, con), cfg.KBName, list); err != nil {
		return err
	}
	version, err := attached.publish(ctx)
	if err != nil {
		return err
	}
	for i := range list.Options {
		list.Options[i].Attached = version
	}
	now := d.Clock.Now()
	name := cmp.Or(batch, "batch_"+now.UTC().Format("20060102_150405")+"_"+strings.ToLower(rand.Text()[:6]))
	created, err := d.Queue.OpenBatch(ctx, name, now)
	if err != nil {
		return err
	}
	into := redisqueue.Batch{Name: name, CreatedAt: created}
	if err := warnOfLimits(ctx, cfg, con, d, list, plan, name); err != nil {
		return err
	}
	bar := view.NewBar(con.Err, "enqueueing")
	added, done, first := 0, 0, 0
	var runs []topicqueue.Run
	var lines []int
	flush := func() error {
		if len(runs) == 0 {
			return nil
		}
		isNew, err := d.Dispatcher.EnqueueAll(ctx, d.Queue, runs)
		there := done // topics known to be in the queue
		for i, run := range runs {
			if isNew[i] {
				added++
				there++
			}
			if con.JSON && err == nil {
				line := lineOf(run, "", isNew[i])
				line.Line = lines[i]
				if err := con.PrintJSON(line, true); err != nil {
					return err
				}
			}
		}
		if err != nil {
			if ctx.Err() != nil {
				err = errors.New("interrupted")
			}
			return view.Hint(fmt.Errorf("lines %d to %d: %w", lines[0], lines[len(lines)-1], err),
				fmt.Sprintf("At least %d of %s are in the queue; enqueue the file again with --batch %s to add the rest.", there,
					view.Counted(plan.Topics, "topic"), name))
		}
		done += len(runs)
		bar.Set(done, plan.Topics, "")
		runs, lines = runs[:0], lines[:0]
		return nil
	}
	err = plan.Each(list, func(t intake.Topic) error {
		options := list.Options[t.Options]
		options.Deadline = t.Deadline
		// Creation times are 1 ms apart and end now, so that runs are listed and worked in the order of the file.
		at := now.Add(-time.Duration(plan.Topics-1-first) * time.Millisecond)
		first++
		runs = append(runs, jobs.NewRun(into, t.Topic, options, t.Lane, topicqueue.Labels{Ref: t.Ref, Tags: t.Tags}, at))
		lines = append(lines, t.Line)
		if len(runs) < submitChunk {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	bar.End()
	if err != nil {
		return err
	}
	if err := d.Queue.SealBatch(ctx, name); err != nil { // the digest follows the last report of a sealed batch
		return view.Hint(err,
			fmt.Sprintf("All topics are in the queue; enqueue the file again with --batch %s for the digest.", name))
	}
	if !con.JSON {
		fmt.Fprintf(con.Out, "batch %s: %s enqueued", name, view.Counted(added, "topic"))
		if known := plan.Topics - added; known > 0 {
			fmt.Fprintf(con.Out, ", %d there already", known)
		}
		fmt.Fprintln(con.Out)
		con.Say("process them with `nightdesk worker`; show them with `nightdesk list --batch %s`", name)
	}
	return nil
}

// plainLetters have no special meaning in Redis, storage or a shell.
const plainLetters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// checkBatchName restricts batch names, because they are part of Redis and storage keys.
func checkBatchName(name string) error {
	ok := name != "" && len(name) <= 100 && name[0] != '.'
	for _, r := range name {
		ok = ok && strings.ContainsRune(plainLetters+"-_.", r)
	}
	if !ok {
		return view.Usage(fmt.Errorf("batch name %q: use at most 100 characters: letters, digits, - _ and dots, not "+
			"beginning with a dot", name))
	}
	return nil
}
