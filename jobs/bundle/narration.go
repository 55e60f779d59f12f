package bundle

import "nightdesk/topicqueue"

// findNarration adds the narration of the report, whose files are in storage.
func (b *Writer) findNarration() {
	run := b.In.Run
	if b.report == nil || run.Options.Audio == topicqueue.AudioNone {
		return
	}
	if b.audio = run.Narration; b.audio == nil {
		b.audio = &topicqueue.Narration{Mode: run.Options.Audio, Problem: "the run ended before the narration was made"}
	}
	if b.audio.File != "" {
		b.staged = append(b.staged, b.audio.File, b.audio.Transcript)
	}
}
