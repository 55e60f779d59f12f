package llm

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"nightdesk/pipeline/llm/wire"
	"nightdesk/topicqueue"
)

// SpeakerSettings are the settings of a speech model.
type SpeakerSettings struct {
	Model      string
	BaseURL    string        // without /audio/speech; empty: https://api.openai.com/v1
	APIKey     string        // empty: none is sent
	Voices     []string      // empty: alloy and nova
	Timeout    time.Duration // per try; 0: 1 minute
	MaxTries   int           // per request; 0: 10
	HTTPClient *http.Client  // nil: a default client
	Governor   Governor      // nil: requests are not delayed, and only the number of tries is limited
	// Check returns an error for unusable audio, which is then requested again; nil: no check.
	Check func(wav []byte) error
}

// Speaker converts text to speech with the speech model of an OpenAI-compatible server. It retries like Client. Make
// one per process. Safe for concurrent use.
type Speaker struct {
	role   *role
	voices []string
	check  func([]byte) error
}

// NewSpeaker validates the settings and returns a speaker. It opens no connection. The error lists all problems.
func NewSpeaker(s SpeakerSettings) (*Speaker, error) {
	settings, err := RoleSettings{Model: s.Model,
		BaseURL: strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(s.BaseURL), "/"), "/audio/speech"),
		APIKey:  s.APIKey, MaxTries: s.MaxTries, Timeout: cmp.Or(s.Timeout, time.Minute)}.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("speech settings: %w", err)
	}
	voices := s.Voices
	if len(voices) == 0 {
		voices = []string{"alloy", "nova"}
	}
	return &Speaker{role: newRole("speech", settings, exchanging(s.HTTPClient), s.Governor), voices: voices,
		check: s.Check}, nil
}

// Name returns the model name.
func (s *Speaker) Name() string { return s.role.settings.Model }

// Voices returns two voices, whatever the language.
func (s *Speaker) Voices(context.Context, string) ([]string, error) {
	return []string{s.voices[0], s.voices[len(s.voices)-1]}, nil
}

// Usage returns the estimated usage for speaking a text. Servers report no figures.
func (s *Speaker) Usage(text string) topicqueue.Usage {
	return topicqueue.Usage{Role: "speech", Stage: "narrating", Step: "speak", Model: s.role.settings.Model,
		PromptTokens: EstimateTokens(text), Estimated: true}
}

// Speak returns a text of a few sentences as a WAV file. The error matches ErrPermanent or ErrUnavailable, or wraps
// context.Cause(ctx).
func (s *Speaker) Speak(ctx context.Context, voice, text string) (wav []byte, err error) {
	question := map[string]string{"model": s.Name(), "voice": voice, "input": text, "response_format": "wav"}
	err = trial{
		call: topicqueue.Call{Tokens: EstimateTokens(text)}, doing: "speak with " + s.Name(),
		most: s.role.settings.MaxTries,
		send: func(ctx context.Context) (outcome, *wire.Exchange, error) {
			ex, inTime := s.role.fetch(ctx, "/audio/speech", question, s.role.settings.Timeout, "speech as WAV", s.read)
			what, err := s.role.judge(ex, inTime, nil)
			if foreign := ex.Foreign(); what == broken && foreign != nil { // a retry usually gives the same answer
				what = garbled
			}
			if what == answered {
				wav = ex.Body
			}
			return what, ex, err
		},
	}.run(ctx, s.role)
	return wav, err
}

// read checks an answer.
func (s *Speaker) read(ex *wire.Exchange, kind string) error {
	err := wire.Sound(ex, kind)
	if err == nil && s.check != nil {
		if err = s.check(ex.Body); err != nil {
			return fmt.Errorf("%w: no usable audio: %w", wire.ErrBody, err)
		}
	}
	return err
}
