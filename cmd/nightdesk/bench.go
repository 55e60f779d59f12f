package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/bench"
	"nightdesk/cmd/nightdesk/view"
)

// benchFlags are the flags of bench.
type benchFlags struct {
	set      bench.Settings
	times    int
	baseline string
	markdown bool
}

func benchCommand(p *program) *cobra.Command {
	var f benchFlags
	var about strings.Builder
	for _, s := range bench.Scenarios() {
		fmt.Fprintf(&about, "  %-8s %s\n", s.Name, s.About)
	}
	cmd := &cobra.Command{
		Use:   "bench [SCENARIO...]",
		Short: "Measure this program on this machine",
		Long: `Measure this program on this machine, with a built-in model of fixed latency and a small built-in
web. Your own settings and data are neither used nor changed. The scenarios (default: all):

` + about.String() + `
  nightdesk bench single batch --json > before.json
  nightdesk bench single batch --baseline before.json`,
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			return measure(ctx, s.Console, args, f)
		}),
	}
	flags := cmd.Flags()
	flags.IntVar(&f.times, "times", 3, "number of measurements per scenario; the median is shown")
	flags.StringVar(&f.baseline, "baseline", "", "file with the JSON output of an earlier bench, for comparison")
	flags.BoolVar(&f.markdown, "markdown", false, "print Markdown")
	flags.StringVar(&f.set.Preset, "preset", "", "preset of the topics")
	flags.DurationVar(&f.set.Latency, "latency", 0, "latency of the model")
	flags.IntVar(&f.set.Topics, "topics", 0, "number of topics")
	flags.IntVar(&f.set.Cap, "cap", 0, "number of concurrent calls that the model accepts; it rejects more with 429")
	flags.IntVar(&f.set.Workers, "workers", 0, "number of worker processes")
	flags.IntVar(&f.set.Slots, "concurrency", 0, "number of tasks that a worker runs in parallel")
	flags.IntVar(&f.set.Kills, "kills", 0, "number of workers that are killed")
	flags.IntVar(&f.set.Pages, "pages", 0, "number of pages of a knowledge base")
	flags.DurationVar(&f.set.Window, "window", 0, "how long an idle worker is measured")
	flags.BoolVar(&f.set.KB, "kb", false, "research a knowledge base instead of the web")
	return cmd
}

func measure(ctx context.Context, con *view.Console, names []string, f benchFlags) error {
	scenarios := bench.Scenarios()
	known := make([]string, len(scenarios))
	for i, s := range scenarios {
		known[i] = s.Name
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return view.Usage(view.Hint(fmt.Errorf("there is no scenario %q", name),
				"It is one of "+strings.Join(known, ", ")+"."))
		}
	}
	if f.times < 1 {
		return view.Usage(errors.New("--times must be at least 1"))
	}
	var earlier *bench.Report
	if f.baseline != "" {
		r, err := bench.Read(f.baseline)
		if err != nil {
			return view.Usage(err)
		}
		earlier = &r
	}
	report := bench.NewReport(versionText())
	if !con.JSON {
		fmt.Fprintln(con.Out, report.Machine())
	}
	for _, s := range scenarios {
		if len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		bar := view.NewBar(con.Err, "measuring "+s.Name)
		r, err := s.Measure(ctx, f.set, f.times, func(done, total int) { bar.Set(done, total, "") })
		bar.End()
		if err != nil {
			return err
		}
		report.Results = append(report.Results, r)
		switch {
		case con.JSON:
		case f.markdown:
			fmt.Fprint(con.Out, "\n"+r.Markdown())
		default:
			fmt.Fprint(con.Out, "\n"+strings.Join(r.Lines(earlier), "\n")+"\n")
		}
	}
	if con.JSON {
		return con.PrintJSON(report, false)
	}
	return nil
}
