package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/ollama"
)

var ollamaChat = protocol{
	baseURL:    "http://127.0.0.1:11434",
	usual:      "has no path",
	slips:      []string{"/v1", "/chat", "/api"}, // the address of its other API, or of this one with its path
	transports: []Transport{TransportSchema, TransportPrompt},
	connect:    connectOllama,
	ask:        askOllama,
	parse:      parseOllama,
	clean:      cleanOllama,
	show:       showOllama,
	models:     shown,
}

// connectOllama sets the window: without it Ollama takes a small one and cuts the prompt without a word. The address
// has been checked; langchaingo ends the program on a bad one.
func connectOllama(s RoleSettings, client *http.Client) (llms.Model, error) {
	return ollama.New(ollama.WithModel(s.Model), ollama.WithServerURL(s.BaseURL), ollama.WithHTTPClient(client),
		ollama.WithRunnerNumCtx(s.ContextTokens))
}

func askOllama(s RoleSettings, q question, ex *exchange) []llms.CallOption {
	ex.bearer = s.APIKey       // for a proxy before it; langchaingo sends none
	ex.set["truncate"] = false // newer servers then refuse a prompt that is too long instead of cutting it
	if !s.Reasoning {          // a model that can think does so unasked, on the account of the answer's limit
		ex.set["think"] = false
	}
	if q.form.transport == TransportSchema {
		ex.set["format"] = q.prompt.Schema
	} else {
		ex.unset = append(ex.unset, "format") // langchaingo sends an empty one
	}
	return nil
}

// parseOllama reads the parts of an answer, one JSON object after the other. Without the last one, which says done, it
// is none: the server gave up in the middle.
func parseOllama(body []byte) (wireAnswer, error) {
	var a wireAnswer
	body, err := jsonObject(body)
	if err != nil {
		return a, err
	}
	var text strings.Builder
	begun := false
	for parts := json.NewDecoder(bytes.NewReader(body)); ; {
		var part struct {
			Message *struct {
				Content string `json:"content"`
			} `json:"message"`
			Done       bool            `json:"done"`
			DoneReason json.RawMessage `json:"done_reason"`
			Prompt     json.RawMessage `json:"prompt_eval_count"`
			Completion json.RawMessage `json:"eval_count"`
			Error      json.RawMessage `json:"error"`
		}
		err := parts.Decode(&part)
		switch {
		case errors.Is(err, io.EOF) && !begun:
			return a, without("a message")
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return a, &foreignAnswer{what: "a stream that ends before its last part", odd: true}
		case err != nil:
			return a, unreadable(err)
		case isSet(part.Error) && string(part.Error) != `""`:
			a.failure = part.Error
			return a, nil
		}
		if part.Message != nil {
			begun = true
			text.WriteString(part.Message.Content)
		}
		if part.Done && begun {
			a.text = text.String()
			a.prompt, a.completion = count(part.Prompt), count(part.Completion)
			_ = json.Unmarshal(part.DoneReason, &a.finishReason) // another type than a string says nothing
			return a, nil
		}
	}
}

// cleanOllama encodes the whole answer as one part. langchaingo reads a line of at most 512,000 bytes and ignores a
// longer one without a word; it needs none of the text, which was read already.
func cleanOllama(a wireAnswer) []byte {
	return encode(map[string]any{
		"message": map[string]any{"role": "assistant", "content": ""}, "done": true,
		"prompt_eval_count": a.prompt, "eval_count": a.completion,
	})
}
