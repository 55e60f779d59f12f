package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/narration"
	"nightdesk/storage"
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
			return narrateRun(ctx, s, args[0], mode, out)
		}),
	}
	cmd.Flags().StringVar(&mode, "audio", topicqueue.AudioSingle,
		"extended_audio (whole report), single_podcast_overview (main points) or dual_podcast_overview (main "+
			"points, two voices)")
	cmd.Flags().StringVar(&out, "out", "", "output file (default: RUN.mp3, .opus or .wav, depending on the encoder)")
	return cmd
}

// narrateResult is the JSON document of `narrate --json`.
type narrateResult struct {
	RunID string `json:"run_id"`
	topicqueue.Narration
}

func narrateRun(ctx context.Context, s *session, name, mode, out string) error {
	_, err := s.cfg.With(map[string]string{"reporting.audio": mode})
	if mode == "none" {
		err = errors.New("--audio none would produce no audio")
	}
	if err != nil {
		return view.Usage(err)
	}
	speaker, err := wiring.NewSpeech(s.cfg, nil)
	if err != nil {
		return view.Usage(err)
	}
	store, runID, err := s.openRun(ctx, name)
	if err != nil {
		return err
	}
	run, err := bundle.ReadRun(ctx, store, runID)
	if err != nil {
		return noBundle(err)
	}
	markdown, err := store.Get(ctx, storage.ReportKey(runID))
	if err != nil {
		return err
	}
	encoder, encodes := narration.FindEncoder()
	if out == "" {
		out = runID + ".wav"
		if encodes {
			out = runID + "." + encoder.Format
		}
	}
	ext := filepath.Ext(out)
	if ext != ".wav" && ext != "."+encoder.Format {
		return view.Usage(fmt.Errorf("--out %s: a file here ends in .wav%s", out,
			map[bool]string{true: " or ." + encoder.Format}[encodes]))
	}
	n, sound, transcript, err := narrate(ctx, s, speaker, narration.Report{RunID: runID, Mode: mode,
		Published: true, Language: run.Options.Language, Markdown: string(markdown)})
	if err != nil {
		return err
	}
	if ext != ".wav" {
		if sound, err = encoder.Encode(ctx, sound); err != nil {
			return err
		}
	}
	n.File, n.Transcript = out, strings.TrimSuffix(out, ext)+".vtt"
	for file, body := range map[string][]byte{n.File: sound, n.Transcript: transcript} {
		if err := os.WriteFile(file, body, 0o644); err != nil {
			return fmt.Errorf("write the narration: %w", err)
		}
	}
	if s.JSON {
		return s.PrintJSON(narrateResult{runID, n}, false)
	}
	for _, why := range n.Fallbacks {
		s.Say("without the model: %s", why)
	}
	fmt.Fprintln(s.Out, n.Transcript)
	fmt.Fprintln(s.Out, n.File)
	return nil
}

// narrate reads a report aloud and returns the sound as a WAV file, and its transcript.
func narrate(ctx context.Context, s *session, speaker narration.Speaker,
	r narration.Report) (n topicqueue.Narration, sound, transcript []byte, err error) {
	var w narration.Writer
	model, err := wiring.NewModel(s.cfg, nil, nil)
	if err != nil {
		return n, nil, nil, err
	}
	if model != nil { // a nil *Client in the interface would not be nil
		if err := checkModel(ctx, model, llm.Writer); err != nil {
			return n, nil, nil, err
		}
		w.Model = model
	} else {
		s.Say("LLM_MODEL is not set: the script is taken from the report")
	}
	n = topicqueue.Narration{Mode: r.Mode, Engine: speaker.Name()}
	if n.Voices, err = speaker.Voices(ctx, r.Language); err != nil {
		return n, nil, nil, err
	}
	script, err := w.Script(ctx, r)
	if err != nil {
		return n, nil, nil, err
	}
	n.Fallbacks, n.LeftOut = script.Fallbacks, script.LeftOut
	recording, err := narration.Record(ctx, narration.Pieces(script.Turns),
		func(ctx context.Context, p narration.Piece) ([]byte, error) {
			return speaker.Speak(ctx, n.Voices[p.Voice], p.Text)
		})
	if err != nil {
		return n, nil, nil, err
	}
	n.Seconds = recording.Duration().Seconds()
	return n, recording.WAV(), narration.Transcript(script.Title, recording.Cues), nil
}
