package llm

import (
	"net/http"

	"github.com/tmc/langchaingo/llms"

	"nightdesk/pipeline/llm/wire"
)

// Provider names the protocol of a model server.
type Provider string

// The providers. Each has a default address, which is used if RoleSettings has none.
const (
	// also compatible servers: vLLM, llama.cpp, LiteLLM, OpenRouter, ...; https://api.openai.com/v1
	ProviderOpenAI    Provider = "openai"
	ProviderAnthropic Provider = "anthropic" // the messages API; https://api.anthropic.com/v1
	ProviderOllama    Provider = "ollama"    // its own API, the only one that can set the window; http://127.0.0.1:11434
)

// protocol holds the differences between providers. Retries, limits, structured answers and errors are the same for
// all.
type protocol struct {
	baseURL    string      // the provider's default
	usual      string      // usual form of base URLs: "ends in /v1"
	slips      []string    // address suffixes that are often given by mistake, and removed
	transports []Transport // supported transports, strictest first; the last is TransportPrompt

	// connect creates langchaingo's client. s is complete and validated.
	connect func(s RoleSettings, client *http.Client) (llms.Model, error)
	// ask adds what is specific to this protocol: as options for langchaingo, or to ex if langchaingo cannot send it.
	ask func(s RoleSettings, q question, ex *wire.Exchange) []llms.CallOption
	// add decodes an answer, see wire.Exchange. The fields of streamed request one that arrives in pieces.
	add      func(said *wire.Said, piece []byte) error
	streamed map[string]any

	// show returns the request for a description of the model, or of all models, without a question to a model; see
	// role.fetch. models decodes the answer, see Reached.
	show   func(model string) (path string, payload any)
	models func(body []byte, model string) (has bool, others []string)
}

var protocols = map[Provider]protocol{ProviderOpenAI: openAI, ProviderAnthropic: anthropicMessages,
	ProviderOllama: ollamaChat}
