package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"nightdesk/topicqueue"
)

// This file reads the parts of an answer that langchaingo v0.1.14 omits or gets wrong. It converts the rest to a form
// that langchaingo reads correctly: the text of an answer, and OpenAI's tool calls, come from langchaingo.
// TestLangchaingo in package llm shows each reason; code for what a later version does correctly can be removed.
//
// Token usage, all protocols. OpenAI's client knows neither DeepSeek's prompt_cache_hit_tokens nor non-integer
// counts; with such a count the whole answer is an error. No client returns the usage of an answer that it refuses,
// although refused answers are paid for too.
//
// Finish reasons. OpenAI's client dereferences a nil pointer on the reason "function_call".
//
// Errors with status 200, all protocols. OpenAI's and Anthropic's clients report them as an empty answer, without the
// server's message.
//
// Text. OpenAI's client refuses a content that is a list of parts. Anthropic's refuses a message with an unknown
// block (redacted_thinking), or without blocks. Ollama is asked with OpenAI's client.
//
// Tool calls. OpenAI's client refuses arguments that are an object. Anthropic's decodes and re-encodes the arguments,
// which changes their order and their numbers, so they are taken from the wire.

// Said is the content of an answer besides its text.
type Said struct {
	Finish       string
	Prompt       int // tokens; 0: not reported
	Completion   int
	Cached       int             // of Prompt: read from the provider's cache
	CacheWritten int             // of Prompt: written to it
	Calls        []Call          // Anthropic's tool calls; those of OpenAI are langchaingo's
	Failure      json.RawMessage // an error object sent with status 200
}

// Usage returns the token usage that the answer reports.
func (s Said) Usage() topicqueue.Usage {
	cached := min(s.Cached, s.Prompt)
	return topicqueue.Usage{PromptTokens: s.Prompt, CompletionTokens: s.Completion, CachedTokens: cached,
		CacheWriteTokens: min(s.CacheWritten, s.Prompt-cached)}
}

// Call is a tool call. Arguments is JSON as the model wrote it.
type Call struct{ ID, Name, Arguments string }

// ErrBody marks an answer with status 200 that begins like one of the protocol but cannot be read.
var ErrBody = errors.New("not a chat completion")

// ReadOpenAI decodes a chat completion. With an error, or a failure, Said has at most the usage.
func ReadOpenAI(body []byte) (forward []byte, said Said, err error) {
	type function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	}
	type call struct {
		ID       word     `json:"id,omitempty"`
		Function function `json:"function"`
	}
	var raw struct {
		Choices []struct {
			Message struct {
				Content      text      `json:"content"`
				ToolCalls    []call    `json:"tool_calls"`
				FunctionCall *function `json:"function_call,omitempty"`
			} `json:"message"`
			FinishReason word `json:"finish_reason"`
		} `json:"choices"`
		Usage json.RawMessage `json:"usage,omitempty"`
		Error json.RawMessage `json:"error,omitempty"`
	}
	if err := decode(body, &raw); err != nil {
		return nil, said, err
	}
	said.Prompt, said.Completion, said.Cached = openAIUsage(raw.Usage)
	if len(raw.Choices) == 0 {
		if isSet(raw.Error) {
			said.Failure = raw.Error
			return nil, said, nil
		}
		return nil, said, without("choices")
	}
	raw.Choices, raw.Usage, raw.Error = raw.Choices[:1], nil, nil
	first := &raw.Choices[0]
	said.Finish, first.FinishReason = string(first.FinishReason), ""
	if old := first.Message.FunctionCall; old != nil {
		first.Message.ToolCalls, first.Message.FunctionCall = append(first.Message.ToolCalls, call{Function: *old}), nil
	}
	return Encode(raw), said, nil
}

// openAIUsage decodes token counts. cached is the cached part of prompt, in the form of OpenAI and most others, or of
// DeepSeek.
func openAIUsage(raw json.RawMessage) (prompt, completion, cached int) {
	var u struct {
		Prompt     count           `json:"prompt_tokens"`
		Completion count           `json:"completion_tokens"`
		Details    json.RawMessage `json:"prompt_tokens_details"`
		Hit        count           `json:"prompt_cache_hit_tokens"`
	}
	if json.Unmarshal(raw, &u) != nil {
		return 0, 0, 0
	}
	var details struct {
		Cached count `json:"cached_tokens"`
	}
	_ = json.Unmarshal(u.Details, &details) // ignore values that are not objects
	return int(u.Prompt), int(u.Completion), int(max(details.Cached, u.Hit))
}

// ReadAnthropic decodes a message. It joins the texts and omits the thinking. See ReadOpenAI.
func ReadAnthropic(body []byte) (forward []byte, said Said, err error) {
	var raw struct {
		Content    json.RawMessage `json:"content"`
		StopReason word            `json:"stop_reason"`
		Usage      json.RawMessage `json:"usage"`
		Error      json.RawMessage `json:"error"`
	}
	if err := decode(body, &raw); err != nil {
		return nil, said, err
	}
	var usage struct { // input_tokens excludes tokens written to or read from the cache
		Input   count `json:"input_tokens"`
		Written count `json:"cache_creation_input_tokens"`
		Read    count `json:"cache_read_input_tokens"`
		Output  count `json:"output_tokens"`
	}
	if json.Unmarshal(raw.Usage, &usage) == nil {
		said.Cached, said.CacheWritten, said.Completion = int(usage.Read), int(usage.Written), int(usage.Output)
		said.Prompt = int(usage.Input) + said.Cached + said.CacheWritten
	}
	if !isSet(raw.Content) {
		if isSet(raw.Error) {
			said.Failure = raw.Error
			return nil, said, nil
		}
		return nil, said, without("content")
	}
	var blocks []struct {
		Type  string    `json:"type"`
		Text  string    `json:"text"`
		ID    word      `json:"id"`
		Name  string    `json:"name"`
		Input arguments `json:"input"`
	}
	if err := json.Unmarshal(raw.Content, &blocks); err != nil {
		return nil, said, fmt.Errorf("%w: its content: %w", ErrBody, err)
	}
	var text strings.Builder
	for _, b := range blocks {
		switch b.Type {
		case "text":
			text.WriteString(b.Text)
		case "tool_use":
			said.Calls = append(said.Calls, Call{string(b.ID), b.Name, string(b.Input)})
		}
	}
	said.Finish = string(raw.StopReason)
	return Encode(map[string]any{"type": "message",
		"content": []any{map[string]string{"type": "text", "text": text.String()}}}), said, nil
}

// ReadOllama decodes an answer of Ollama's own API and forwards it as a chat completion. It may have parts, one JSON
// object after the other. Without the last part, which has done set, the answer is invalid, because the server stopped
// in the middle. See ReadOpenAI.
func ReadOllama(body []byte) (forward []byte, said Said, err error) {
	if body, err = jsonObject(body); err != nil {
		return nil, said, err
	}
	var text strings.Builder
	begun := false
	for parts := json.NewDecoder(bytes.NewReader(body)); ; {
		var part struct {
			Message *struct {
				Content string `json:"content"`
			} `json:"message"`
			Done       bool            `json:"done"`
			DoneReason word            `json:"done_reason"`
			Prompt     count           `json:"prompt_eval_count"`
			Completion count           `json:"eval_count"`
			Error      json.RawMessage `json:"error"`
		}
		err := parts.Decode(&part)
		switch {
		case errors.Is(err, io.EOF) && !begun:
			return nil, said, without("a message")
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil, said, &Foreign{What: "a stream that ends before its last part", Odd: true}
		case err != nil:
			return nil, said, unreadable(err)
		case isSet(part.Error) && string(part.Error) != `""`:
			said.Failure = part.Error
			return nil, said, nil
		}
		if part.Message != nil {
			begun = true
			text.WriteString(part.Message.Content)
		}
		if part.Done && begun {
			said.Prompt, said.Completion, said.Finish = int(part.Prompt), int(part.Completion), string(part.DoneReason)
			return Encode(map[string]any{"choices": []any{
				map[string]any{"message": map[string]string{"role": "assistant", "content": text.String()}}}}), said, nil
		}
	}
}

// decode decodes a body that is one JSON object. The error is a *Foreign or ErrBody.
func decode(body []byte, into any) error {
	body, err := jsonObject(body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return unreadable(err)
	}
	return nil
}

// isSet reports whether a member exists and is not null.
func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// text is the content of a message: a string, null, or a list of parts whose texts are joined.
type text string

func (t *text) UnmarshalJSON(raw []byte) error {
	var whole string
	if json.Unmarshal(raw, &whole) == nil {
		*t = text(whole)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return nil // it has no text
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	*t = text(b.String())
	return nil
}

// arguments are the arguments of a tool call, as JSON or as a string that contains JSON.
type arguments string

func (a *arguments) UnmarshalJSON(raw []byte) error {
	var inside string
	if json.Unmarshal(raw, &inside) != nil {
		inside = string(raw)
	}
	*a = arguments(inside)
	return nil
}

// word is a string; values of other types are ignored.
type word string

func (w *word) UnmarshalJSON(raw []byte) error {
	_ = json.Unmarshal(raw, (*string)(w))
	return nil
}

// count is a number of tokens; 0 for values that are not numbers.
type count int

func (c *count) UnmarshalJSON(raw []byte) error {
	var n float64
	if json.Unmarshal(raw, &n) != nil {
		n = 0
	}
	const most = 1 << 30 // also keeps absurd values out of sums
	*c = count(min(max(n, 0), most))
	return nil
}

// Encode is json.Marshal for values that always encode: strings, numbers, lists, maps and structs of them.
func Encode(value any) []byte {
	body, err := json.Marshal(value)
	if err != nil {
		panic("encode for a model server: " + err.Error())
	}
	return body
}
