package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"nightdesk/jobs"
	"nightdesk/pipeline/digest"
	"nightdesk/storage"
	"nightdesk/topicqueue/redisqueue"
)

func (a *app) digestCommand() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use: "digest BATCH", Short: "Print the digest of a batch: failures, changes, contradictions, cost",
		Args: cobra.ExactArgs(1),
		Long: `Print the digest of a batch, the most important first. A batch that has ended has its digest in the storage, as Markdown,
HTML and JSON. For a batch that has not ended, the digest so far is printed and not stored.`,
		RunE: a.command(func(cmd *cobra.Command, args []string) error { return a.digest(cmd.Context(), args[0], f) }),
	}
	f.linkFlags(cmd, "page of the digest")
	return cmd
}

// digest reads from storage what is there: that works without a queue.
func (a *app) digest(ctx context.Context, batch string, f reportFlags) error {
	if err := checkBatchName(batch); err != nil {
		return err
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	d, err := jobs.ReadDigest(ctx, store, batch)
	switch {
	case err == nil && f.link:
		return a.printLink(ctx, store, storage.DigestKey(batch, "html"), f.lifetime)
	case err == nil && f.path:
		fmt.Fprintln(a.stdout, store.Location(storage.DigestKey(batch, "html")))
		return nil
	case errors.Is(err, storage.ErrNotExist) && (f.path || f.link):
		return usageError{hintError{fmt.Errorf("there is no digest of batch %s in %s", batch, store.Location("batches")),
			"It is written when the last run of the batch ends. Without --path and --link, the digest so far is printed."}}
	case errors.Is(err, storage.ErrNotExist):
		d, err = a.digestNow(ctx, store, batch)
		if noQueue(err) {
			return usageError{hintError{noBatchError(batch), fmt.Sprintf("There is no queue, and no digest of it in %s.",
				store.Location("batches"))}}
		}
		if err == nil {
			a.say("the final digest is not written yet; this is the digest so far")
		}
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(d, false)
	}
	_, err = a.stdout.Write(d.Markdown(store.Location))
	return err
}

// digestNow makes the digest of a batch from what has ended.
func (a *app) digestNow(ctx context.Context, store storage.Store, batch string) (d digest.Digest, err error) {
	desk, err := a.openDesk(ctx, false)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, desk.Close()) }()
	d, err = jobs.MakeDigest(ctx, desk.queue, store, batch)
	if errors.Is(err, redisqueue.ErrNotFound) {
		batches, err := desk.queue.Batches(ctx)
		if err != nil {
			return d, err
		}
		return d, noBatch(batch, batches)
	}
	return d, err
}

// isRunID tells a run from a batch where both may be named.
func isRunID(name string) bool { return strings.HasPrefix(name, "research_") }
