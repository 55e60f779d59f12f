package bundle

import (
	"context"

	"nightdesk/topicqueue"
)

// findNarration adds the narration of the report, whose files should already be in storage. silent: they are missing,
// perhaps only for now.
func (b *Writer) findNarration(ctx context.Context) (silent bool, err error) {
	run := b.In.Run
	if b.report == nil || run.Options.Audio == topicqueue.AudioNone {
		return false, nil
	}
	if b.audio = run.Narration; b.audio == nil {
		b.audio = &topicqueue.Narration{Mode: run.Options.Audio, Problem: "the run ended before the narration was made"}
	}
	if b.audio.File == "" {
		return false, nil
	}
	files := []string{b.audio.File, b.audio.Transcript}
	for _, key := range files {
		there, err := b.services.Store.Exists(ctx, key)
		if err != nil {
			return false, err
		}
		silent = silent || !there
	}
	if silent {
		b.audio = &topicqueue.Narration{Mode: run.Options.Audio,
			Problem: "it is lost: the machine that held it during the storage outage did not return"}
		return true, nil
	}
	b.staged = append(b.staged, files...)
	return false, nil
}
