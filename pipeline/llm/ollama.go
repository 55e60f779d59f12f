package llm

import (
	"net/http"

	"github.com/tmc/langchaingo/llms"

	"nightdesk/pipeline/llm/wire"
)

// ollamaChat is OpenAI's protocol with the request and the answer of Ollama's own API. Ollama's OpenAI-compatible
// endpoint cannot set the window of a request (github.com/ollama/ollama/issues/5356): it uses that of the server, often
// 4,096 tokens, and silently cuts longer prompts.
var ollamaChat = protocol{
	baseURL:    "http://127.0.0.1:11434",
	usual:      "has no path",
	slips:      []string{"/v1", "/chat", "/api"}, // suffixes of its other API, or of this API's paths
	transports: []Transport{TransportSchema, TransportPrompt},
	connect:    connectOllama,
	ask:        askOllama,
	add:        wire.AddOllama,
	streamed:   map[string]any{"stream": true},
	show:       func(model string) (string, any) { return "/api/show", map[string]string{"model": model} },
	models:     shown,
}

func connectOllama(s RoleSettings, client *http.Client) (llms.Model, error) {
	s.BaseURL += "/api"
	return connectOpenAI(s, client)
}

func askOllama(s RoleSettings, q question, ex *wire.Exchange) []llms.CallOption {
	ex.NoAuth = s.APIKey == ""
	ex.NotSent = "/completions" // of the path
	ex.Unset = []string{"temperature", TokenFieldCompletion, TokenFieldLegacy}
	options := map[string]any{}
	if s.ContextTokens > 0 {
		options["num_ctx"] = s.ContextTokens
	}
	if !q.form.noTemperature {
		options["temperature"] = s.Temperature
	}
	if q.form.limit > 0 {
		options["num_predict"] = q.form.limit
	}
	ex.Set["options"], ex.Set["stream"] = options, false
	ex.Set["truncate"] = false // newer servers then refuse a prompt that is too long instead of cutting it
	if !s.Reasoning {          // otherwise a model that can think does so, at the expense of the answer limit
		ex.Set["think"] = false
	}
	if q.form.transport == TransportSchema {
		ex.Set["format"] = q.prompt.Schema
	}
	return nil
}
