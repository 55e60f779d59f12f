package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"
)

// This file reads answers that arrive while they are written. It assembles their pieces into the body that the same
// answer has as a whole, which Exchange.Read then decodes like any other. langchaingo's own streaming returns neither
// usage nor errors, and would need a second set of workarounds like those of read.go.

// Stream assembles the pieces of one answer.
type Stream interface {
	// Add adds the next piece, a JSON object. It returns the piece's additions to the text and to the arguments of
	// tool calls.
	Add(piece []byte) (text, arguments string)
	// Body returns the whole answer; false if its last piece is missing.
	Body() ([]byte, bool)
}

// gather reads the body of an answer that was requested as a stream. A server that does not stream sends it whole.
func gather(body io.Reader, s Stream, heard func(text, arguments string)) ([]byte, error) {
	limited := &io.LimitedReader{R: body, N: maxBody + 1}
	lines := bufio.NewReader(limited)
	begin, err := skipSpace(lines)
	if err != nil {
		return nil, err
	}
	_, perLine := s.(*OllamaStream)
	perLine = perLine && bytes.HasPrefix(begin, []byte("{"))
	if !perLine && !isEvent(begin) {
		return io.ReadAll(lines)
	}
	for err == nil {
		var line []byte
		line, err = lines.ReadBytes('\n')
		data := bytes.TrimSpace(line)
		if !perLine {
			var ok bool
			if data, ok = bytes.CutPrefix(data, []byte("data:")); !ok {
				continue // an event name, a comment, an empty line
			}
			data = bytes.TrimSpace(data)
		}
		if len(data) == 0 || string(data) == "[DONE]" {
			continue
		}
		if !json.Valid(data) {
			if err == nil || err == io.EOF {
				err = &Foreign{What: "a stream with broken JSON", Odd: true}
			}
			break
		}
		heard(s.Add(data))
	}
	switch {
	case err != io.EOF:
		return nil, err
	case limited.N <= 0:
		return nil, ErrBodyTooLarge
	}
	whole, ok := s.Body()
	if !ok {
		return nil, &Foreign{What: "a stream that ends before its last part", Odd: true}
	}
	return whole, nil
}

// skipSpace skips white space and returns the first bytes after it without consuming them.
func skipSpace(r *bufio.Reader) ([]byte, error) {
	for {
		c, err := r.ReadByte()
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if c == ' ' || c == '\r' || c == '\n' || c == '\t' {
			continue
		}
		if err := r.UnreadByte(); err != nil {
			return nil, err
		}
		begin, err := r.Peek(len("event:"))
		if err == io.EOF {
			err = nil
		}
		return begin, err
	}
}

// isEvent reports whether a body begins like server-sent events.
func isEvent(begin []byte) bool {
	return slices.ContainsFunc([]string{"data:", "event:", "id:", "retry:", ":"},
		func(field string) bool { return bytes.HasPrefix(begin, []byte(field)) })
}

// OpenAIStream assembles the chunks of a chat completion.
type OpenAIStream struct {
	text    strings.Builder
	calls   []*streamedCall
	finish  string
	begun   bool
	usage   json.RawMessage
	failure json.RawMessage
}

type streamedCall struct {
	at        *int
	id, name  string
	arguments strings.Builder
}

// Add implements Stream.
func (s *OpenAIStream) Add(piece []byte) (said, arguments string) {
	type function struct {
		Name      word `json:"name"`
		Arguments word `json:"arguments"`
	}
	var chunk struct {
		Choices []struct {
			Index int `json:"index"`
			Delta struct {
				Content   text `json:"content"`
				ToolCalls []struct {
					Index    *int     `json:"index"`
					ID       word     `json:"id"`
					Function function `json:"function"`
				} `json:"tool_calls"`
				FunctionCall *function `json:"function_call"`
			} `json:"delta"`
			FinishReason word `json:"finish_reason"`
		} `json:"choices"`
		Usage json.RawMessage `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(piece, &chunk) != nil {
		return "", ""
	}
	if isSet(chunk.Usage) {
		s.usage = chunk.Usage
	}
	if isSet(chunk.Error) {
		s.failure = chunk.Error
	}
	for _, c := range chunk.Choices {
		if c.Index != 0 {
			continue
		}
		s.begun = true
		if c.FinishReason != "" {
			s.finish = string(c.FinishReason)
		}
		s.text.WriteString(string(c.Delta.Content))
		said += string(c.Delta.Content)
		for _, t := range c.Delta.ToolCalls {
			arguments += s.call(t.Index, string(t.ID), string(t.Function.Name), string(t.Function.Arguments))
		}
		if f := c.Delta.FunctionCall; f != nil {
			zero := 0
			arguments += s.call(&zero, "", string(f.Name), string(f.Arguments))
		}
	}
	return said, arguments
}

// call adds to a tool call. Some servers send no index; each call then begins with its name.
func (s *OpenAIStream) call(at *int, id, name, arguments string) string {
	i := len(s.calls) - 1
	if at != nil {
		i = slices.IndexFunc(s.calls, func(c *streamedCall) bool { return c.at != nil && *c.at == *at })
	} else if name != "" {
		i = -1
	}
	if i < 0 {
		i = len(s.calls)
		s.calls = append(s.calls, &streamedCall{at: at})
	}
	c := s.calls[i]
	if c.id == "" {
		c.id = id
	}
	if c.name == "" {
		c.name = name
	}
	c.arguments.WriteString(arguments)
	return arguments
}

// Body implements Stream. A finish reason ends an answer; the usage after it may be missing.
func (s *OpenAIStream) Body() ([]byte, bool) {
	if s.failure != nil {
		return Encode(map[string]any{"error": s.failure}), true
	}
	if !s.begun || s.finish == "" {
		return nil, false
	}
	message := map[string]any{"role": "assistant", "content": s.text.String()}
	if len(s.calls) > 0 {
		var calls []any
		for _, c := range s.calls {
			calls = append(calls, map[string]any{"id": c.id, "type": "function",
				"function": map[string]string{"name": c.name, "arguments": c.arguments.String()}})
		}
		message["tool_calls"] = calls
	}
	body := map[string]any{"choices": []any{map[string]any{"message": message, "finish_reason": s.finish}}}
	if s.usage != nil {
		body["usage"] = s.usage
	}
	return Encode(body), true
}

// AnthropicStream assembles the events of a message.
type AnthropicStream struct {
	blocks  []*streamedBlock
	stop    string
	ended   bool
	usage   map[string]json.RawMessage
	failure json.RawMessage
}

type streamedBlock struct {
	at             int
	kind, id, name string
	text           strings.Builder // text, or the arguments of a tool call
}

// Add implements Stream.
func (s *AnthropicStream) Add(piece []byte) (said, arguments string) {
	var event struct {
		Type    string `json:"type"`
		Index   int    `json:"index"`
		Message struct {
			Usage map[string]json.RawMessage `json:"usage"`
		} `json:"message"`
		Block struct {
			Type string          `json:"type"`
			Text string          `json:"text"`
			ID   word            `json:"id"`
			Name string          `json:"name"`
			In   json.RawMessage `json:"input"`
		} `json:"content_block"`
		Delta struct {
			Text       string `json:"text"`
			Arguments  string `json:"partial_json"`
			StopReason word   `json:"stop_reason"`
		} `json:"delta"`
		Usage map[string]json.RawMessage `json:"usage"`
		Error json.RawMessage            `json:"error"`
	}
	if json.Unmarshal(piece, &event) != nil {
		return "", ""
	}
	s.count(event.Message.Usage)
	s.count(event.Usage)
	switch event.Type {
	case "error":
		s.failure = event.Error
	case "message_stop":
		s.ended = true
	case "message_delta":
		if event.Delta.StopReason != "" {
			s.stop = string(event.Delta.StopReason)
		}
	case "content_block_start":
		b := &streamedBlock{at: event.Index, kind: event.Block.Type, id: string(event.Block.ID), name: event.Block.Name}
		b.text.WriteString(event.Block.Text)
		if in := string(event.Block.In); isSet(event.Block.In) && in != "{}" {
			b.text.WriteString(in)
		}
		s.blocks = append(s.blocks, b)
		said = event.Block.Text
	case "content_block_delta":
		i := slices.IndexFunc(s.blocks, func(b *streamedBlock) bool { return b.at == event.Index })
		if i < 0 {
			return "", ""
		}
		switch s.blocks[i].kind {
		case "text":
			said = event.Delta.Text
		case "tool_use":
			arguments = event.Delta.Arguments
		}
		s.blocks[i].text.WriteString(said + arguments)
	}
	return said, arguments
}

// count stores token counts; later values replace earlier ones.
func (s *AnthropicStream) count(usage map[string]json.RawMessage) {
	for name, value := range usage {
		if s.usage == nil {
			s.usage = map[string]json.RawMessage{}
		}
		s.usage[name] = value
	}
}

// Body implements Stream.
func (s *AnthropicStream) Body() ([]byte, bool) {
	if s.failure != nil {
		return Encode(map[string]any{"type": "error", "error": s.failure, "usage": s.usage}), true
	}
	if !s.ended {
		return nil, false
	}
	content := []any{}
	for _, b := range s.blocks {
		switch b.kind {
		case "text":
			content = append(content, map[string]string{"type": "text", "text": b.text.String()})
		case "tool_use":
			content = append(content, map[string]string{"type": "tool_use", "id": b.id, "name": b.name,
				"input": cmp.Or(b.text.String(), "{}")})
		}
	}
	return Encode(map[string]any{"type": "message", "content": content, "stop_reason": s.stop, "usage": s.usage}), true
}

// OllamaStream collects the lines of an answer for ReadOllama.
type OllamaStream struct{ body bytes.Buffer }

// Add implements Stream.
func (s *OllamaStream) Add(piece []byte) (said, arguments string) {
	s.body.Write(piece)
	s.body.WriteByte('\n')
	var part struct {
		Message struct {
			Content string `json:"content"`
		} `json:"message"`
	}
	if json.Unmarshal(piece, &part) != nil {
		return "", ""
	}
	return part.Message.Content, ""
}

// Body implements Stream. ReadOllama checks for the last line.
func (s *OllamaStream) Body() ([]byte, bool) { return s.body.Bytes(), true }
