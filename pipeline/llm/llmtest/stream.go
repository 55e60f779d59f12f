package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// pieceRunes is the number of characters per event of a stream.
const pieceRunes = 7

// pieces splits a text like models do, in the middle of words.
func pieces(text string) (out []string) {
	runes := []rune(text)
	for len(runes) > 0 {
		n := min(pieceRunes, len(runes))
		out, runes = append(out, string(runes[:n])), runes[n:]
	}
	return out
}

// event writes a server-sent event.
func event(b *bytes.Buffer, name string, data any) {
	if name != "" {
		fmt.Fprintf(b, "event: %s\n", name)
	}
	fmt.Fprintf(b, "data: %s\n\n", mustEncode(data))
}

// streamOpenAI converts a complete answer to its chunks. A tool call is sent as a name, then arguments. The usage is
// in a last chunk without choices.
func streamOpenAI(q Question, body []byte) []byte {
	var whole struct {
		Choices []struct {
			Message struct {
				Content   string           `json:"content"`
				ToolCalls []map[string]any `json:"tool_calls"`
			} `json:"message"`
			Finish string `json:"finish_reason"`
		} `json:"choices"`
		Usage json.RawMessage `json:"usage"`
	}
	if json.Unmarshal(body, &whole) != nil || len(whole.Choices) == 0 {
		return body
	}
	var b bytes.Buffer
	b.WriteString(": processing\n\n")
	chunk := func(delta map[string]any, finish any) {
		event(&b, "", map[string]any{"object": "chat.completion.chunk", "model": q.Model, "usage": nil,
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	message := whole.Choices[0].Message
	chunk(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, piece := range pieces(message.Content) {
		chunk(map[string]any{"content": piece}, nil)
	}
	for i, call := range message.ToolCalls {
		f := call["function"].(map[string]any)
		chunk(map[string]any{"tool_calls": []any{map[string]any{"index": i, "id": call["id"], "type": "function",
			"function": map[string]any{"name": f["name"], "arguments": ""}}}}, nil)
		for _, piece := range pieces(f["arguments"].(string)) {
			chunk(map[string]any{"tool_calls": []any{map[string]any{"index": i,
				"function": map[string]any{"arguments": piece}}}}, nil)
		}
	}
	chunk(map[string]any{}, whole.Choices[0].Finish)
	var options struct {
		Usage bool `json:"include_usage"`
	}
	_ = json.Unmarshal(q.Fields["stream_options"], &options) // no usage without this option
	if options.Usage && whole.Usage != nil {
		event(&b, "", map[string]any{"object": "chat.completion.chunk", "choices": []any{}, "usage": whole.Usage})
	}
	b.WriteString("data: [DONE]\n\n")
	return b.Bytes()
}

// streamAnthropic converts a message to its events. The tokens of the question are in the first event, those of the
// answer in the last but one.
func streamAnthropic(_ Question, body []byte) []byte {
	var whole struct {
		Content []struct {
			Type, Text, Thinking, ID, Name string
			Input                          json.RawMessage // preserves the order of members
		} `json:"content"`
		Stop  string         `json:"stop_reason"`
		Usage map[string]any `json:"usage"`
	}
	if json.Unmarshal(body, &whole) != nil || whole.Content == nil {
		return body
	}
	var b bytes.Buffer
	say := func(kind string, fields map[string]any) {
		fields["type"] = kind
		event(&b, kind, fields)
	}
	first := map[string]any{"type": "message", "content": []any{}}
	if whole.Usage != nil {
		first["usage"] = map[string]any{"input_tokens": whole.Usage["input_tokens"], "output_tokens": 1,
			"cache_read_input_tokens":     whole.Usage["cache_read_input_tokens"],
			"cache_creation_input_tokens": whole.Usage["cache_creation_input_tokens"]}
	}
	say("message_start", map[string]any{"message": first})
	say("ping", map[string]any{})
	for i, block := range whole.Content {
		start, field, kind, text := map[string]any{"type": block.Type}, "text", "text_delta", block.Text
		switch block.Type {
		case "thinking":
			field, kind, text = "thinking", "thinking_delta", block.Thinking
			start["thinking"] = ""
		case "tool_use":
			field, kind, text = "partial_json", "input_json_delta", string(block.Input)
			start["id"], start["name"], start["input"] = block.ID, block.Name, map[string]any{}
		default:
			start["text"] = ""
		}
		say("content_block_start", map[string]any{"index": i, "content_block": start})
		for _, piece := range pieces(text) {
			say("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": kind, field: piece}})
		}
		say("content_block_stop", map[string]any{"index": i})
	}
	last := map[string]any{"delta": map[string]any{"stop_reason": whole.Stop}}
	if whole.Usage != nil {
		last["usage"] = map[string]any{"output_tokens": whole.Usage["output_tokens"]}
	}
	say("message_delta", last)
	say("message_stop", map[string]any{})
	return b.Bytes()
}
