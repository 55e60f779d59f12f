package config

import (
	"cmp"
	"errors"
	"strings"

	"nightdesk/topicqueue"
)

// Speech configures the audio version of reports: a speech model on an OpenAI-compatible server, or espeak-ng if
// installed. Complete after Load.
type Speech struct {
	Model   string // empty: espeak-ng
	BaseURL URL    // empty: OpenAI's server
	APIKey  Secret // empty: no key is sent
	Voices  string // one or two, comma-separated; empty: the engine's defaults
}

// Enabled reports whether a speech model is configured.
func (s Speech) Enabled() bool { return s.Model != "" }

// Host returns host and port of the speech server.
func (s Speech) Host() string { return cmp.Or(s.BaseURL.Host(), NewURL(openAIServer).Host()) }

// VoiceNames returns the configured voices, in order.
func (s Speech) VoiceNames() (names []string) {
	for name := range strings.SplitSeq(s.Voices, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// audioOff is the setting value for topicqueue.AudioNone.
const audioOff = "none"

// audioSettings lists the values of reporting.audio.
var audioSettings = []string{audioOff, topicqueue.AudioExtended, topicqueue.AudioSingle, topicqueue.AudioDual}

// audioMode returns the mode for a setting value.
func audioMode(setting string) string {
	if setting == audioOff {
		return topicqueue.AudioNone
	}
	return setting
}

func checkVoices(list string) error {
	if n := len((Speech{Voices: list}).VoiceNames()); n > 2 {
		return errors.New("must be one or two names with a comma between them")
	}
	return nil
}

// completeSpeech fills in a missing key, but only with a key meant for the same server.
func completeSpeech(c *Config) { completeKey(c, "speech.api_key", c.Speech.BaseURL, &c.Speech.APIKey) }

// completeKey keeps a key that was set for this server. Otherwise it uses the main model's key or OPENAI_API_KEY if
// that is for the same server.
func completeKey(c *Config, path string, server URL, key *Secret) {
	from := c.source(path)
	if c.Given(path) && from != "environment "+openAIKey {
		return
	}
	common := *key
	*key = Secret{}
	delete(c.origins, path)
	switch {
	case serverOf(server) == serverOf(c.LLM.Main.BaseURL):
		*key = c.LLM.Main.APIKey
		c.origins[path] = origin{text: "llm.api_key"}
	case serverOf(server) == openAIServer && common != Secret{}:
		*key = common
		c.origins[path] = origin{given: true, text: from}
	}
}

// checkSpeech checks the combination of these settings. known: problems of individual settings.
func checkSpeech(c Config, known Problems) Problems {
	s := c.Speech
	if s.Enabled() && serverOf(s.BaseURL) == openAIServer && s.APIKey == (Secret{}) &&
		!known.about("speech.api_key", "speech.base_url", "llm.api_key", "llm.base_url") {
		return Problems{{Key: "speech.model", Value: clip(s.Model), Source: c.source("speech.model"),
			Reason: "it needs a key or a server: set SPEECH_API_KEY, or SPEECH_BASE_URL for a server " +
				"that needs no key"}}
	}
	return nil
}

// otherNames maps names in the message schema to setting paths.
var otherNames = map[string]string{
	"researching.strategy_mode":    "researching.strategy",
	"speech_synthesis_config.mode": "reporting.audio",
}

// settingPath returns the path of a setting, given any of its names.
func settingPath(path string) string {
	if own, ok := otherNames[path]; ok {
		return own
	}
	return path
}
