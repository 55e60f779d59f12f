package wiring

import (
	"errors"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/jobs"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/narration"
)

// NewSpeech returns the speaker that reads reports aloud. The error is narration.ErrNoEngine or about a setting.
// governor: see NewModel.
func NewSpeech(cfg config.Config, governor llm.Governor) (narration.Speaker, error) {
	s := cfg.Speech
	if !s.Enabled() {
		return narration.FindEspeak(s.VoiceNames()...)
	}
	speaker, err := llm.NewSpeaker(llm.SpeakerSettings{
		Model: s.Model, BaseURL: s.BaseURL.Reveal(), APIKey: s.APIKey.Reveal(), Voices: s.VoiceNames(),
		Timeout: cfg.LLM.Timeout, Governor: governor,
		HTTPClient: llm.NewHTTPClient(idleConnections(cfg)),
		Check: func(wav []byte) error {
			_, err := narration.ReadWAV(wav)
			return err
		},
	})
	if err != nil {
		return nil, view.Usage(err)
	}
	return speaker, nil
}

// addSpeech adds the speaker to s if an engine is available.
func addSpeech(cfg config.Config, s *jobs.Services, governor llm.Governor) error {
	speaker, err := NewSpeech(cfg, governor)
	if errors.Is(err, narration.ErrNoEngine) {
		return nil
	}
	s.Speech = speaker
	return err
}
