package doctor

import (
	"context"
	"path/filepath"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/pipeline/narration"
)

// checkSpeech reports the speech engine and the audio format. It does not speak anything, because that may cost money.
func checkSpeech(_ context.Context, cfg config.Config, _ *view.Console) []checkup {
	speaker, err := wiring.NewSpeech(cfg, nil)
	if err != nil {
		return []checkup{{Name: "speech", Result: "note", Text: err.Error() + ". Reports are not read aloud (--audio).",
			Hint: "For example: apt-get install espeak-ng"}}
	}
	text := "reports are read aloud by " + speaker.Name()
	if cfg.Speech.Enabled() {
		text += " of " + cfg.Speech.Host()
	}
	encoder, ok := narration.FindEncoder()
	if !ok {
		return []checkup{{Name: "speech", Result: "ok", Text: text + "; their files are WAV, which is large",
			Hint: "For MP3 files install lame or ffmpeg, for Opus files opus-tools."}}
	}
	return []checkup{{Name: "speech", Result: "ok", Text: text + "; their files are made by " +
		filepath.Base(encoder.Program) + " (" + encoder.Format + ")"}}
}
