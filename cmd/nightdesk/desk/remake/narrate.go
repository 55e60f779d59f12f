package remake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/narration"
	"nightdesk/topicqueue"
)

// Narrated is a report as it is read aloud.
type Narrated struct {
	RunID string `json:"run_id"`
	topicqueue.Narration

	Sound []byte `json:"-"`
	Words []byte `json:"-"` // the transcript
}

// Narrate reads the report of a run aloud. file is the name for the sound, whose extension says its format; empty: the
// id of the run with the best format that can be made.
func (d Desk) Narrate(ctx context.Context, runID, mode, file string) (out Narrated, err error) {
	_, err = d.Config.With(map[string]string{"reporting.audio": mode})
	if mode == "none" {
		err = errors.New("--audio none would produce no audio")
	}
	if err != nil {
		return out, view.Usage(err)
	}
	speaker, err := wiring.NewSpeech(d.Config, nil)
	if err != nil {
		return out, view.Usage(err)
	}
	run, err := bundle.ReadRun(ctx, d.Store, runID)
	if err != nil {
		return out, NoBundle(err)
	}
	tree, err := bundle.Report(ctx, d.Store, runID)
	if err != nil {
		return out, err
	}
	encoder, encodes := narration.FindEncoder()
	endings := []string{".wav"}
	if encodes {
		endings = append(endings, "."+encoder.Format)
	}
	file = cmp.Or(file, runID+endings[len(endings)-1])
	if !slices.Contains(endings, filepath.Ext(file)) {
		return out, view.Usage(fmt.Errorf("--out %s: a file here ends in %s", file, view.Either(endings...)))
	}
	out.RunID = runID
	out.Narration = topicqueue.Narration{Mode: mode, Engine: speaker.Name(), File: file,
		Transcript: strings.TrimSuffix(file, filepath.Ext(file)) + ".vtt"}
	err = d.speak(ctx, speaker, narration.Report{RunID: runID, Mode: mode,
		Language: run.Options.Language, Tree: tree}, &out)
	if err == nil && filepath.Ext(file) != ".wav" {
		out.Sound, err = encoder.Encode(ctx, out.Sound)
	}
	return out, err
}

// speak reads a report aloud as a WAV file.
func (d Desk) speak(ctx context.Context, speaker narration.Speaker, r narration.Report, out *Narrated) error {
	var w narration.Writer
	model, err := d.writer(ctx, "LLM_MODEL is not set: the script is taken from the report")
	if err != nil {
		return err
	}
	if model != nil { // a nil *Client in the interface would not be nil
		w.Model = model
	}
	if out.Voices, err = speaker.Voices(ctx, r.Language); err != nil {
		return err
	}
	script, err := w.Script(ctx, r)
	if err != nil {
		return err
	}
	out.Fallbacks, out.LeftOut = script.Fallbacks, script.LeftOut
	recording, err := narration.Record(ctx, narration.Pieces(script.Turns),
		func(ctx context.Context, p narration.Piece) ([]byte, error) {
			return speaker.Speak(ctx, out.Voices[p.Voice], p.Text)
		})
	if err != nil {
		return err
	}
	out.Seconds = recording.Duration().Seconds()
	out.Sound, out.Words = recording.WAV(), narration.Transcript(script.Title, recording.Cues)
	return nil
}
