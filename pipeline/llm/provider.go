package llm

import (
	"context"
	"net/http"

	"github.com/tmc/langchaingo/llms"

	"nightdesk/pipeline/llm/wire"
)

// Provider names the protocol of a model server.
type Provider string

// The providers. Each has its own address, which is used when RoleSettings names none.
const (
	// and every compatible server: vLLM, llama.cpp, LiteLLM, OpenRouter, ...; https://api.openai.com/v1
	ProviderOpenAI    Provider = "openai"
	ProviderAnthropic Provider = "anthropic" // the messages API; https://api.anthropic.com/v1
	ProviderOllama    Provider = "ollama"    // its own API, which alone can set the window; http://127.0.0.1:11434
)

// protocol is what differs between providers. Retries, limits, structured answers and errors are the same for all.
type protocol struct {
	baseURL    string      // the provider's own
	usual      string      // what base URLs look like: "ends in /v1"
	slips      []string    // ends of an address that are often given and do not belong to it
	transports []Transport // that it has, the strictest first; the last is TransportPrompt

	// connect makes langchaingo's client. s is complete and checked.
	connect func(s RoleSettings, client *http.Client) (llms.Model, error)
	// ask adds to a request what is this protocol's alone: returned for langchaingo, or put into ex when it cannot send
	// it.
	ask func(s RoleSettings, q question, ex *wire.Exchange) []llms.CallOption
	// read reads a body with status 200, see wire.Exchange.
	read func(body []byte) (forward []byte, said wire.Said, err error)
	// stream takes an answer that arrives while it is written, which streamed asks for.
	stream   func() wire.Stream
	streamed map[string]any

	// show asks about the model, or all models, without a question to one; models reads the answer, see Reached.
	show   func(ctx context.Context, s RoleSettings) (*http.Request, error)
	models func(body []byte, model string) (has bool, others []string)
}

var protocols = map[Provider]protocol{ProviderOpenAI: openAI, ProviderAnthropic: anthropicMessages,
	ProviderOllama: ollamaChat}
