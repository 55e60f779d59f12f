package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/desk/remake"
	"nightdesk/topicqueue"
)

func narrateCommand(p *program) *cobra.Command {
	var mode, out string
	cmd := &cobra.Command{
		Use: "narrate RUN", Short: "Read a finished report aloud into a file, with its transcript beside it",
		Args: cobra.ExactArgs(1),
		Long: `Read a finished report aloud into a file, with its transcript beside it (.vtt). The script is
written by the configured model, or taken from the report without one. The stored report is not
changed. To keep a narration with the report's files, use --audio of run or enqueue.

See "nightdesk help audio" for voices and scripts.`,
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			return narrate(ctx, s, args[0], mode, out)
		}),
	}
	cmd.Flags().StringVar(&mode, "audio", topicqueue.AudioSingle,
		"extended_audio (whole report), single_podcast_overview (main points) or dual_podcast_overview (main "+
			"points, two voices)")
	cmd.Flags().StringVar(&out, "out", "", "output file (default: RUN.mp3, .opus or .wav, depending on the encoder)")
	return cmd
}

func narrate(ctx context.Context, s *session, name, mode, out string) error {
	var n remake.Narrated
	err := s.withRun(ctx, name, func(d *desk.Desk, runID string) (err error) {
		n, err = d.Remake().Narrate(ctx, runID, mode, out)
		return err
	})
	if err != nil {
		return err
	}
	for file, body := range map[string][]byte{n.File: n.Sound, n.Transcript: n.Words} {
		if err := os.WriteFile(file, body, 0o644); err != nil {
			return fmt.Errorf("write the narration: %w", err)
		}
	}
	for _, why := range n.Fallbacks {
		s.Say("without the model: %s", why)
	}
	return s.Result(n, "%s\n%s\n", n.Transcript, n.File)
}
