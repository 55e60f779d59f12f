package config_test

import (
	"slices"
	"strings"
	"testing"

	"nightdesk/config"
	"nightdesk/topicqueue"
)

// The audio mode has a second name, that of the message schema's settings.
func TestSpeech_Mode(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{"ours": "reporting:\n  audio: dual_podcast_overview\n",
		"the schema's": "speech_synthesis_config:\n  mode: dual_podcast_overview\n"} {
		o, err := config.RunOptionsOf(load(t, file, nil, nil), "quick", "", "", "")
		if err != nil || o.Audio != topicqueue.AudioDual {
			t.Errorf("%s: %q, %v", name, o.Audio, err)
		}
	}
	o, err := config.RunOptionsOf(load(t, "reporting: {audio: none}\n", nil, nil), "quick", "", "", "")
	if err != nil || o.Audio != topicqueue.AudioNone {
		t.Errorf("none: %q, %v", o.Audio, err)
	}
	_, err = tryLoad(t, "speech_synthesis_config:\n  mode: song\n", nil, nil)
	if err == nil || !strings.Contains(err.Error(), "extended_audio, single_podcast_overview, dual_podcast_overview") {
		t.Errorf("%v", err)
	}
	if _, err = tryLoad(t, "speech_synthesis_config:\n  speed: 2\n", nil, nil); err == nil {
		t.Error("an unknown setting of the schema's group passes")
	}
}

// A key is sent only to the server that it was set for.
func TestSpeech_Key(t *testing.T) {
	t.Parallel()
	const local, other = "http://127.0.0.1:8880/v1", "http://127.0.0.1:8080/v1"
	for _, tc := range []struct {
		name string
		env  map[string]string
		key  string
	}{
		{"all of its own", map[string]string{"SPEECH_BASE_URL": other, "SPEECH_API_KEY": "own", "LLM_BASE_URL": local,
			"LLM_API_KEY": "llm"}, "own"},
		{"the model's server", map[string]string{"SPEECH_BASE_URL": local, "LLM_BASE_URL": local,
			"LLM_API_KEY": "llm"}, "llm"},
		{"another server", map[string]string{"SPEECH_BASE_URL": other, "LLM_BASE_URL": local, "LLM_API_KEY": "llm"}, ""},
		{"OpenAI's", map[string]string{"OPENAI_API_KEY": "common"}, "common"},
		{"the common key stays at OpenAI", map[string]string{"SPEECH_BASE_URL": other, "OPENAI_API_KEY": "common"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.env["SPEECH_MODEL"] = "tts"
			if tc.env["LLM_BASE_URL"] != "" {
				tc.env["LLM_MODEL"] = "chat"
			}
			if s := load(t, "", tc.env, nil).Speech; s.APIKey.Reveal() != tc.key || !s.Enabled() {
				t.Errorf("key %q, want %q", s.APIKey.Reveal(), tc.key)
			}
		})
	}
	_, err := tryLoad(t, "", map[string]string{"SPEECH_MODEL": "tts"}, nil)
	if err == nil || !strings.Contains(err.Error(), "set SPEECH_API_KEY") {
		t.Errorf("%v", err)
	}
}

func TestSpeech_Voices(t *testing.T) {
	t.Parallel()
	s := load(t, "", map[string]string{"SPEECH_VOICES": " a, b ,"}, nil).Speech
	if got := s.VoiceNames(); !slices.Equal(got, []string{"a", "b"}) || s.Host() != "api.openai.com" {
		t.Errorf("%q of %s", got, s.Host())
	}
	_, err := tryLoad(t, "", map[string]string{"SPEECH_VOICES": "a,b,c"}, nil)
	if err == nil || !strings.Contains(err.Error(), "one or two names") {
		t.Errorf("%v", err)
	}
}
