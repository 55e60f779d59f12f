package llm

import (
	"net/http"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/ollama"

	"nightdesk/pipeline/llm/wire"
)

var ollamaChat = protocol{
	baseURL:    "http://127.0.0.1:11434",
	usual:      "has no path",
	slips:      []string{"/v1", "/chat", "/api"}, // suffixes of its other API, or of this API's paths
	transports: []Transport{TransportSchema, TransportPrompt},
	connect:    connectOllama,
	ask:        askOllama,
	read:       wire.ReadOllama,
	stream:     func() wire.Stream { return &wire.OllamaStream{} },
	streamed:   map[string]any{"stream": true},
	show:       showOllama,
	models:     shown,
}

// connectOllama sets the window, because Ollama otherwise uses a small one and silently cuts the prompt. The address
// is validated before, because langchaingo ends the program on a bad one.
func connectOllama(s RoleSettings, client *http.Client) (llms.Model, error) {
	return ollama.New(ollama.WithModel(s.Model), ollama.WithServerURL(s.BaseURL), ollama.WithHTTPClient(client),
		ollama.WithRunnerNumCtx(s.ContextTokens))
}

func askOllama(s RoleSettings, q question, ex *wire.Exchange) []llms.CallOption {
	ex.Bearer = s.APIKey       // for a proxy in front of it; langchaingo sends no key
	ex.Set["truncate"] = false // newer servers then refuse a prompt that is too long instead of cutting it
	if !s.Reasoning {          // otherwise a model that can think does so, at the expense of the answer limit
		ex.Set["think"] = false
	}
	if q.form.transport == TransportSchema {
		ex.Set["format"] = q.prompt.Schema
	} else {
		ex.Unset = append(ex.Unset, "format") // langchaingo sends an empty one
	}
	return nil
}
