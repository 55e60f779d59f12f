package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/lookup"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/jobs"
	"nightdesk/pipeline/digest"
	"nightdesk/storage"
	"nightdesk/topicqueue/redisqueue"
)

func digestCommand(p *program) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use: "digest BATCH", Short: "Print the digest of a batch: failures, changes, contradictions, cost",
		Args: cobra.ExactArgs(1),
		Long: `Print the digest of a batch, most important items first. When a batch has ended, its digest is in
storage as Markdown, HTML and JSON. While it is running, the digest so far is printed but not
stored.`,
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			return printDigest(ctx, s, args[0], f)
		}),
	}
	f.linkFlags(cmd, "page of the digest")
	return cmd
}

// printDigest prints the stored digest, which works without a queue. If there is none, it computes the digest so far.
func printDigest(ctx context.Context, s *session, batch string, f reportFlags) error {
	if err := checkBatchName(batch); err != nil {
		return err
	}
	store, err := wiring.OpenStore(ctx, s.cfg)
	if err != nil {
		return err
	}
	d, err := jobs.ReadDigest(ctx, store, batch)
	switch {
	case err == nil && f.link:
		return printLink(ctx, s.Console, store, storage.DigestKey(batch, "html"), f.lifetime)
	case err == nil && f.path:
		fmt.Fprintln(s.Out, store.Location(storage.DigestKey(batch, "html")))
		return nil
	case errors.Is(err, storage.ErrNotExist) && (f.path || f.link):
		return view.Usage(view.Hint(fmt.Errorf("there is no digest of batch %s in %s", batch, store.Location("batches")),
			"It is written when the last run of the batch ends. Without --path and --link, the digest so far is printed."))
	case errors.Is(err, storage.ErrNotExist):
		d, err = digestNow(ctx, s, store, batch)
		if wiring.IsNoQueue(err) {
			return view.Usage(view.Hint(lookup.NoBatchError(batch), fmt.Sprintf("There is no queue, and no digest of it in %s. "+
				"What `nightdesk run` researches has none: `nightdesk report RUN` prints a report.", store.Location("batches"))))
		}
		if err == nil {
			s.Say("the final digest is not written yet; this is the digest so far")
		}
	}
	if err != nil {
		return err
	}
	if s.JSON {
		return s.PrintJSON(d, false)
	}
	_, err = s.Out.Write(d.Markdown(store.Location))
	return err
}

// digestNow computes the digest of a batch from the runs that have ended.
func digestNow(ctx context.Context, s *session, store storage.Store, batch string) (d digest.Digest, err error) {
	err = s.withDesk(ctx, func(desk *wiring.Desk) error {
		d, err = jobs.MakeDigest(ctx, desk.Queue, store, batch)
		if !errors.Is(err, redisqueue.ErrNotFound) {
			return err
		}
		batches, err := desk.Queue.Batches(ctx)
		if err != nil {
			return err
		}
		return lookup.NoBatch(batch, batches)
	})
	return d, err
}
