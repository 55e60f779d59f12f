package config

import (
	"cmp"
	"errors"
	"fmt"
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

// Enabled reports whether a model is configured.
func (s Server) Enabled() bool { return s.Model != "" }

// Embedding configures the vectors of knowledge bases. Without a model they support word search only.
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

// service is a server with the group of its settings.
type service struct {
	group string
	*Server
}

func (c *Config) services() []service {
	return []service{{"embedding", &c.Embedding.Server}, {"speech", &c.Speech.Server}}
}

// completeServers fills in missing keys, but only with a key meant for the same server: the main model's key or
// OPENAI_API_KEY.
func completeServers(c *Config) {
	for _, s := range c.services() {
		path := s.group + ".api_key"
		from := c.source(path)
		if c.Given(path) && from != "environment "+openAIKey {
			continue
		}
		common := s.APIKey
		s.APIKey = Secret{}
		delete(c.origins, path)
		switch {
		case serverOf(s.BaseURL) == serverOf(c.LLM.Main.BaseURL):
			s.APIKey = c.LLM.Main.APIKey
			c.origins[path] = origin{text: "llm.api_key"}
		case serverOf(s.BaseURL) == openAIServer && common != Secret{}:
			s.APIKey = common
			c.origins[path] = origin{given: true, text: from}
		}
	}
}

// checkServers checks the combination of these settings. known: problems of individual settings.
func checkServers(c Config, known Problems) (problems Problems) {
	for _, s := range c.services() {
		asksOpenAI := s.Enabled() && serverOf(s.BaseURL) == openAIServer
		if asksOpenAI && s.APIKey == (Secret{}) &&
			!known.about(s.group+".api_key", s.group+".base_url", "llm.api_key", "llm.base_url") {
			env := strings.ToUpper(s.group)
			path := s.group + ".model"
			problems = append(problems, Problem{Key: path, Value: clip(s.Model), Source: c.source(path),
				Reason: fmt.Sprintf("it needs a key or a server: set %s_API_KEY, or %s_BASE_URL for a server that needs no key",
					env, env)})
		}
	}
	return problems
}

// remarkEmbedding returns notices about settings that are valid but probably unintended.
func remarkEmbedding(c Config) (notices []string) {
	for _, path := range []string{"embedding.base_url", "embedding.api_key"} {
		if !c.Embedding.Enabled() && c.Given(path) && c.source(path) != "environment "+openAIKey {
			notices = append(notices, fmt.Sprintf("%s is set (%s) but EMBEDDING_MODEL is not: knowledge bases are searched "+
				"by words; set EMBEDDING_MODEL=...", path, c.source(path)))
		}
	}
	return notices
}

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
