package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/estimate"
	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/topicqueue"
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

The list is text (one topic per line), CSV (with a column topic) or JSON Lines (with a field topic).
Further columns set options of a single topic: "nightdesk help lists".

A batch has one run per topic or id, so enqueueing a file into a batch again adds only new topics. A
file with errors is rejected as a whole, unless you give --skip-invalid.`,
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
	flags.StringVar(&f.dedupe, "dedupe", "keep", "near duplicates: keep all, or skip all but the first")
	flags.StringSliceVar(&f.Tags, "tag", nil, "tag of all topics; may be given several times")
	flags.BoolVar(&f.skipInvalid, "skip-invalid", false, "enqueue the valid lines of a list with errors")
	flags.BoolVar(&f.dryRun, "dry-run", false, "check the list and estimate its cost, without enqueueing it")
	return cmd
}

func (f *enqueueFlags) run(ctx context.Context, s *session, args []string) (err error) {
	f.File, f.Skip = args[0], f.dedupe == "skip"
	if !f.Skip && f.dedupe != "keep" {
		return view.Usage(fmt.Errorf("--dedupe %q is unknown: use keep or skip", f.dedupe))
	}
	if f.Batch != "" {
		if err := desk.CheckBatchName(f.Batch); err != nil {
			return err
		}
	}
	in := s.In
	if f.File != "-" {
		file, err := os.Open(f.File)
		if err != nil {
			return view.Usage(fmt.Errorf("read topics: %w", err))
		}
		defer file.Close()
		in = file
	}
	attached, err := newBases(s).Attach(ctx, f.Attach)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, attached.Close()) }()
	s.Config.Attached = attached != nil
	open := desk.OpenWorking
	if f.dryRun {
		open = desk.Open
	}
	return s.withDesk(ctx, open, func(d *desk.Desk) error {
		list, err := f.read(ctx, s, d, in)
		if err != nil {
			return err
		}
		if f.dryRun {
			return f.estimate(ctx, s, d, list, attached.Name())
		}
		return f.submit(ctx, s, d, desk.Checked{List: list, Attached: attached, Batch: f.Batch})
	})
}

// read reads and checks the list.
func (f *enqueueFlags) read(ctx context.Context, s *session, d *desk.Desk, in io.Reader) (*intake.List, error) {
	list, err := d.Read(ctx, in, f.Request)
	if err != nil {
		return nil, err
	}
	for _, note := range list.Notes {
		s.Say("%s", note)
	}
	if err := list.Invalid(); err != nil && !f.skipInvalid {
		return nil, view.Hint(err, "Nothing was enqueued. Correct them, or leave them out with --skip-invalid.")
	} else if err != nil {
		s.Say("%v", err)
	}
	return list, list.Empty()
}

// estimate prints the expected cost of a list. Nothing is enqueued.
func (f *enqueueFlags) estimate(ctx context.Context, s *session, d *desk.Desk, list *intake.List,
	attached string) error {
	for i := range list.Options {
		list.Options[i].Attached = attached
	}
	doc, err := estimate.Of(ctx, s.Config, d.Desk, list, f.Batch)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.PrintJSON(doc, false)
	}
	doc.Print(s.Out)
	s.Say("nothing was enqueued (--dry-run)")
	return nil
}

// submit enqueues an order and prints its runs or their number.
func (f *enqueueFlags) submit(ctx context.Context, s *session, d *desk.Desk, o desk.Checked) error {
	done, err := d.Submit(ctx, o, func(run desk.RunSummary) error {
		if !s.JSON {
			return nil
		}
		return s.PrintJSON(run, true)
	})
	for _, note := range done.Notes {
		s.Say("%s", note)
	}
	if err != nil || s.JSON {
		return err
	}
	fmt.Fprintf(s.Out, "batch %s: %s enqueued", done.Batch, view.Counted(done.Created, "topic"))
	if done.Known > 0 {
		fmt.Fprintf(s.Out, ", %d there already", done.Known)
	}
	fmt.Fprintln(s.Out)
	s.Say("process them with `nightdesk worker`; show them with `nightdesk list --batch %s`", done.Batch)
	return nil
}

// addBatchBudget adds the flag for the budget that all runs of a batch share.
func addBatchBudget(cmd *cobra.Command, f *intake.Flags) {
	cmd.Flags().Func("batch-budget",
		"budget of all runs of the batch together: US dollars such as 20, or tokens such as \"20M tokens\"",
		func(value string) (err error) {
			f.BatchBudget, err = topicqueue.ParseBudget(value)
			return err
		})
}
