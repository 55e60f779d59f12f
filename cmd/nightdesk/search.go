package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/desk/finding"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/search"
)

func searchCommand(p *program) *cobra.Command {
	var q search.Query
	cmd := &cobra.Command{
		Use:   "search QUERY",
		Short: "Find words in the reports and claims of all runs",
		Long: `Find words in the reports and claims of all runs in storage: for example, which of 200 reports
mention Geneva.

  nightdesk search Geneva
  nightdesk search '"private banks" genev* -zurich' --batch tonight

A run must contain all words. Use quotation marks for a phrase, a star for a prefix, and a minus to
exclude a word. Case, accents and English endings are ignored. If no run contains all words, runs
with some of them are listed.`,
		Args: cobra.MinimumNArgs(1),
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			q.Text = strings.Join(args, " ")
			return s.withDesk(ctx, desk.OpenStored, func(d *desk.Desk) error {
				index := d.Index()
				return errors.Join(searchReports(ctx, s, index, q), index.Close())
			})
		}),
	}
	cmd.Flags().StringVar(&q.Batch, "batch", "", "only runs of this batch")
	cmd.Flags().IntVar(&q.Limit, "limit", 20, "at most this number of runs, up to 100")
	return cmd
}

func searchReports(ctx context.Context, s *session, index *finding.Reports, q search.Query) error {
	bar := view.NewBar(s.Console, "reading new reports")
	err := index.CatchUp(ctx, func(done, total int) { bar.Set(done, total, "") })
	bar.End()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil { // reports that are already indexed can be searched
		s.Warn("%v", err)
	}
	found, err := index.Search(ctx, q)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.PrintJSON(found, false)
	}
	showFound(s.Console, q, found)
	return nil
}

// showFound prints results, with matching words in bold on a terminal.
func showFound(con *view.Console, q search.Query, found search.Results) {
	bold, plain, width := "", "", view.Width(con.Out)
	if view.IsTerminal(con.Out) {
		bold, plain = "\x1b[1m", "\x1b[0m"
	}
	fit := func(s string) string { return view.Clip(s, width-1) }
	for i, r := range found.Results {
		if i > 0 {
			fmt.Fprintln(con.Out)
		}
		about := []string{string(r.State)}
		if !r.EndedAt.IsZero() {
			about = append(about, r.EndedAt.Format(time.DateOnly))
		}
		fmt.Fprintln(con.Out, fit(r.RunID+"  "+strings.Join(append(about, r.Batch), ", ")))
		fmt.Fprintln(con.Out, fit("  "+view.Clip(r.Topic, view.TopicColumns)+tagText(r.Tags)))
		for _, s := range r.Snippets {
			sign := "-"
			if s.In == search.InClaim {
				sign = "- claim " + s.Citation + ":"
			}
			fmt.Fprint(con.Out, "    ", sign, " ")
			for _, piece := range s.Pieces {
				if piece.Found {
					fmt.Fprint(con.Out, bold, piece.Text, plain)
				} else {
					fmt.Fprint(con.Out, piece.Text)
				}
			}
			fmt.Fprintln(con.Out)
		}
	}
	switch n := len(found.Results); {
	case n == 0:
		con.Say("%q is in none of %s", q.Text, view.Counted(found.Indexed, "run"))
	case found.Partly:
		con.Say("no run has all words; %d of %d have some of them", found.Total, found.Indexed)
	case n < found.Total:
		con.Say("%q is in %d of %d runs; %d are listed", q.Text, found.Total, found.Indexed, n)
	default:
		con.Say("%q is in %d of %s", q.Text, found.Total, view.Counted(found.Indexed, "run"))
	}
}
