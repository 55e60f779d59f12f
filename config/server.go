package config

import (
	"cmp"
	"errors"
	"net/url"
	"strings"

	"nightdesk/topicqueue"
)

// Server configures a service beside the models: a model on an OpenAI-compatible server. Complete after Load.
type Server struct {
	Model   string // empty: none
	BaseURL URL    // empty: OpenAI's server
	APIKey  Secret // empty: no key is sent
}

// NoModel is the name of a model that stands for none.
const NoModel = "none"

// Enabled reports whether a model is configured.
func (s Server) Enabled() bool { return s.Model != "" && s.Model != NoModel }

// Embedding configures the vectors of knowledge bases. Without the model of a server, the built-in one makes them.
type Embedding struct{ Server }

// Speech configures the audio version of reports. Without a model, espeak-ng reads them, if installed.
type Speech struct {
	Server
	Voices string // one or two, comma-separated; empty: the engine's defaults
}

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

func checkVoices(list string) error {
	if n := len((Speech{Voices: list}).VoiceNames()); n > 2 {
		return errors.New("must be one or two names with a comma between them")
	}
	return nil
}

const openAIKey = "OPENAI_API_KEY"

const openAIServer = "https://api.openai.com"

// serverOf returns scheme, host and port. Different ports of one host count as different servers.
func serverOf(u URL) string {
	if u == (URL{}) {
		return openAIServer
	}
	parsed, err := url.Parse(u.Reveal())
	if err != nil {
		return ""
	}
	server := strings.ToLower(parsed.Scheme + "://" + parsed.Host)
	if port := map[string]string{"http": ":80", "https": ":443"}[strings.ToLower(parsed.Scheme)]; port != "" {
		server = strings.TrimSuffix(server, port)
	}
	return server
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
