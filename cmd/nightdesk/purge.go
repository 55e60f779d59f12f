package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs/purge"
	"nightdesk/pipeline/knowledge"
)

func purgeCommand(p *program) *cobra.Command {
	var dry, yes bool
	cmd := &cobra.Command{
		Use:   "purge --dry-run|--yes",
		Short: "Delete reports, data, list entries, memories and knowledge that retention.* no longer keeps",
		Args:  cobra.NoArgs,
		Long: `Delete what has expired according to the settings retention.*: reports, data and evidence of runs,
list entries with their digests, old memories of recurring topics, and old versions of knowledge
bases. Also delete temporary files of killed processes that are older than a day. Data in use is
kept: unfinished runs and batches, and what the next run of a recurring topic needs.`,
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			if dry == yes {
				return view.Usage(view.Hint(errors.New("purge deletes permanently: choose --dry-run or --yes"),
					"--dry-run shows what would be deleted; --yes deletes it."))
			}
			// The queue knows what is in use, also a private one.
			return s.withDesk(ctx, desk.OpenOwn, func(d *desk.Desk) error { return purgeStorage(ctx, s, d, dry) })
		}),
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would be deleted, without deleting it")
	cmd.Flags().BoolVar(&yes, "yes", false, "delete permanently")
	return cmd
}

func purgeStorage(ctx context.Context, s *session, d *desk.Desk, dry bool) error {
	r := s.Config.Retention
	things, files, total := 0, 0, int64(0)
	order := purge.Order{Queue: d.Queue, Store: d.Store, Now: d.Clock.Now(), Dry: dry,
		Days: r.Days, Count: r.Count}
	err := purge.Run(ctx, order, func(gone purge.Item) error {
		things++
		files += gone.Files
		if gone.Kind == "attached" && !dry { // also delete the local copy
			if err := knowledge.Discard(wiring.KnowledgeDir(s.Config), knowledge.Attached, gone.Name); err != nil {
				return err
			}
		}
		size := ""
		if gone.Bytes > 0 {
			size = fmt.Sprintf(", %.1f MB", float64(gone.Bytes)/1e6)
			total += gone.Bytes
		}
		return s.Row(gone, "%s %s (%s%s)\n", gone.Kind, gone.Name, gone.Why, size)
	})
	if err != nil {
		return view.Hint(err, "The items above are deleted. Run purge again for the rest.")
	}
	done, none := "deleted", "nothing to delete"
	if dry {
		done, none = "would be deleted", "nothing would be deleted"
	}
	size := ""
	if total > 0 {
		size = fmt.Sprintf(" (versions of knowledge bases: %.1f MB)", float64(total)/1e6)
	}
	if r == (config.Retention{}) {
		s.Say("everything is kept, because no retention.* setting is set; `nightdesk config` lists them")
	}
	if things == 0 {
		s.Say("%s", none)
		return nil
	}
	s.Say("%s, %s %s%s", view.Counted(things, "item"), view.Counted(files, "file"), done, size)
	return nil
}
