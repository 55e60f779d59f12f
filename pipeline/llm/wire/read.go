package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode"

	"nightdesk/topicqueue"
)

// This file reads answers with status 200. langchaingo v0.1.14 omits parts of them or gets them wrong; it only gets the
// text back. TestLangchaingo in package llm shows each reason; code for what a later version does correctly can be
// removed.
//
// Token usage, all protocols. OpenAI's client knows neither DeepSeek's prompt_cache_hit_tokens nor non-integer
// counts; with such a count the whole answer is an error. No client returns the usage of an answer that it refuses,
// although refused answers are paid for too. Its streaming returns neither usage nor errors.
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
// which changes their order and their numbers.

// Said is the content of an answer, as far as it has arrived.
type Said struct {
	Text         []byte
	Calls        []Call
	Finish       string          // why the answer ended, in the protocol's words
	Prompt       int             // tokens; 0: not reported
	Completion   int             //
	Cached       int             // of Prompt: read from the provider's cache
	CacheWritten int             // of Prompt: written to it
	Failure      json.RawMessage // an error object sent with status 200

	begun, ended bool   // a part of the answer has arrived, its last part
	inCall       bool   // Anthropic: the current block is a tool call
	arguments    []byte // of tool calls, in the newest piece
}

// Usage returns the token usage that the answer reports.
func (s *Said) Usage() topicqueue.Usage {
	cached := min(s.Cached, s.Prompt)
	return topicqueue.Usage{PromptTokens: s.Prompt, CompletionTokens: s.Completion, CachedTokens: cached,
		CacheWriteTokens: min(s.CacheWritten, s.Prompt-cached)}
}

// Call is a tool call. Arguments is JSON as the model wrote it.
type Call struct {
	Name      string
	Arguments []byte
	at        *int // its number in a stream
}

// call adds a piece of a tool call. Some servers send no number; each call then begins with its name.
func (s *Said) call(at *int, name string, arguments []byte) {
	i := len(s.Calls) - 1
	if at != nil {
		i = slices.IndexFunc(s.Calls, func(c Call) bool { return c.at != nil && *c.at == *at })
	} else if name != "" {
		i = -1
	}
	if i < 0 {
		i = len(s.Calls)
		s.Calls = append(s.Calls, Call{at: at})
	}
	c := &s.Calls[i]
	c.Name = cmp.Or(c.Name, name)
	c.Arguments, s.arguments = append(c.Arguments, arguments...), append(s.arguments, arguments...)
}

// ErrBody marks an answer with status 200 that begins like one of the protocol but cannot be read.
var ErrBody = errors.New("not a chat completion")

// readAnswer reads the body of an answer into ex.Said. The body is one JSON object, several, or a stream of events,
// whatever was asked for.
func (ex *Exchange) readAnswer(body io.Reader) error {
	limited := &io.LimitedReader{R: body, N: maxBody + 1}
	text := bufio.NewReader(limited)
	next, err := piecesOf(text)
	s := &ex.Said
	for err == nil {
		var piece json.RawMessage
		if piece, err = next(); err != nil {
			break
		}
		before := len(s.Text)
		s.arguments = nil
		if err = ex.Add(s, piece); err == nil && ex.Heard != nil {
			ex.Heard(string(s.Text[before:]), string(s.arguments))
		}
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case limited.N <= 0:
		return ErrBodyTooLarge
	case err == io.EOF && (s.ended || s.Failure != nil):
		return nil
	case err == io.EOF && !s.begun:
		return without("an answer")
	case err == io.EOF, err == io.ErrUnexpectedEOF:
		return &Foreign{What: "an answer that ends before its last part", Odd: true}
	case errors.As(err, &syntax):
		return &Foreign{What: fmt.Sprintf("broken JSON (%v)", err), Odd: true}
	case errors.As(err, &kind):
		return fmt.Errorf("%w: %w", ErrBody, err)
	}
	return fmt.Errorf("read the answer: %w", err)
}

// piecesOf returns a function that returns the JSON objects of a body one by one, and io.EOF at its end.
func piecesOf(body *bufio.Reader) (next func() (json.RawMessage, error), err error) {
	for {
		c, _, err := body.ReadRune()
		if err != nil || !unicode.IsSpace(c) && c != '\uFEFF' {
			break
		}
	}
	_ = body.UnreadRune() // at the end there is none
	begin, _ := body.Peek(len("event:"))
	isEvent := func(field string) bool { return bytes.HasPrefix(begin, []byte(field)) }
	switch {
	case slices.ContainsFunc([]string{"data:", "event:", "id:", "retry:", ":"}, isEvent):
		return func() (json.RawMessage, error) { return nextEvent(body) }, nil
	case isEvent("{"):
		objects := json.NewDecoder(body)
		return func() (piece json.RawMessage, err error) {
			err = objects.Decode(&piece)
			return piece, err
		}, nil
	}
	whole, err := io.ReadAll(body)
	if err == nil {
		_, err = jsonObject(whole)
	}
	return nil, err
}

// nextEvent returns the data of the next server-sent event, skipping everything that is not a JSON object.
func nextEvent(body *bufio.Reader) (json.RawMessage, error) {
	for {
		line, err := body.ReadBytes('\n')
		data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		if data = bytes.TrimSpace(data); ok && bytes.HasPrefix(data, []byte("{")) {
			return data, nil // an error comes again
		}
		if err != nil {
			return nil, err
		}
	}
}

// forLangchaingo returns the text of an answer in a form that each of its clients reads.
func (s *Said) forLangchaingo() []byte {
	text := string(s.Text)
	return Encode(map[string]any{
		"choices": []any{map[string]any{"message": map[string]string{"role": "assistant", "content": text}}},
		"type":    "message", "content": []any{map[string]string{"type": "text", "text": text}},
	})
}

// function is a tool call of OpenAI's protocol.
type function struct {
	Name      word      `json:"name"`
	Arguments arguments `json:"arguments"`
}

// message is a message of OpenAI's protocol, or a piece of one.
type message struct {
	Content   text `json:"content"`
	ToolCalls []struct {
		Index    *int     `json:"index"`
		Function function `json:"function"`
	} `json:"tool_calls"`
	FunctionCall *function `json:"function_call"`
}

// AddOpenAI adds a chat completion, or a chunk of one. In a stream, a finish reason ends the answer; the usage after it
// may be missing.
func AddOpenAI(s *Said, piece []byte) error {
	var raw struct {
		Choices []struct {
			Index        int      `json:"index"`
			Message      *message `json:"message"`
			Delta        message  `json:"delta"`
			FinishReason word     `json:"finish_reason"`
		} `json:"choices"`
		Usage json.RawMessage `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(piece, &raw); err != nil {
		return err
	}
	if isSet(raw.Usage) {
		s.Prompt, s.Completion, s.Cached = openAIUsage(raw.Usage)
	}
	if isSet(raw.Error) && (len(raw.Choices) == 0 || raw.Choices[0].Message == nil) {
		s.Failure = raw.Error
	}
	for _, c := range raw.Choices {
		if c.Index != 0 {
			continue
		}
		m := cmp.Or(c.Message, &c.Delta)
		s.begun, s.ended = true, s.ended || c.Message != nil || c.FinishReason != ""
		s.Finish = cmp.Or(string(c.FinishReason), s.Finish)
		s.Text = append(s.Text, m.Content...)
		for _, t := range m.ToolCalls {
			s.call(t.Index, string(t.Function.Name), []byte(t.Function.Arguments))
		}
		if f := m.FunctionCall; f != nil {
			s.call(nil, string(f.Name), []byte(f.Arguments))
		}
		if c.Message != nil {
			break // one answer
		}
	}
	return nil
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

// block is a block of a message in Anthropic's protocol. Blocks of other types hold no part of the answer.
type block struct {
	Type  string    `json:"type"`
	Text  string    `json:"text"`
	Name  string    `json:"name"`
	Input arguments `json:"input"`
}

// AddAnthropic adds a message, or an event of one.
func AddAnthropic(s *Said, piece []byte) error {
	var raw struct {
		Type       string          `json:"type"`
		Content    json.RawMessage `json:"content"` // of a message
		StopReason word            `json:"stop_reason"`
		Usage      anthropicUsage  `json:"usage"`
		Error      json.RawMessage `json:"error"`
		Message    struct {
			Usage anthropicUsage `json:"usage"`
		} `json:"message"`
		Block block `json:"content_block"` // begins
		Delta struct {
			Text       string `json:"text"`
			Arguments  string `json:"partial_json"`
			StopReason word   `json:"stop_reason"`
		} `json:"delta"`
	}
	if err := json.Unmarshal(piece, &raw); err != nil {
		return err
	}
	raw.Message.Usage.addTo(s)
	raw.Usage.addTo(s)
	s.Finish = cmp.Or(string(raw.StopReason), string(raw.Delta.StopReason), s.Finish)
	switch {
	case isSet(raw.Content):
		var blocks []block
		if err := json.Unmarshal(raw.Content, &blocks); err != nil {
			return err
		}
		for _, b := range blocks {
			s.block(b)
		}
		s.begun, s.ended = true, true
	case isSet(raw.Error):
		s.Failure = raw.Error
	case raw.Type == "message_start":
		s.begun = true
	case raw.Type == "message_stop":
		s.ended = true
		for i, c := range s.Calls {
			if len(c.Arguments) == 0 {
				s.Calls[i].Arguments = []byte("{}")
			}
		}
	case raw.Type == "content_block_start":
		if raw.Block.Input == "{}" { // its pieces follow
			raw.Block.Input = ""
		}
		s.block(raw.Block)
	case raw.Type == "content_block_delta" && s.inCall:
		s.call(nil, "", []byte(raw.Delta.Arguments))
	case raw.Type == "content_block_delta":
		s.Text = append(s.Text, raw.Delta.Text...)
	}
	return nil
}

func (s *Said) block(b block) {
	s.inCall = b.Type == "tool_use"
	if s.inCall {
		s.call(nil, cmp.Or(b.Name, "?"), []byte(b.Input))
	} else if b.Type == "text" {
		s.Text = append(s.Text, b.Text...)
	}
}

// anthropicUsage are token counts. Input excludes tokens written to or read from the cache.
type anthropicUsage struct {
	Input   count `json:"input_tokens"`
	Written count `json:"cache_creation_input_tokens"`
	Read    count `json:"cache_read_input_tokens"`
	Output  count `json:"output_tokens"`
}

// addTo stores the counts; later ones of a stream are totals.
func (u anthropicUsage) addTo(s *Said) {
	s.Completion = max(s.Completion, int(u.Output))
	if prompt := int(u.Input + u.Written + u.Read); prompt >= s.Prompt {
		s.Prompt, s.Cached, s.CacheWritten = prompt, int(u.Read), int(u.Written)
	}
}

// AddOllama adds an answer of Ollama's own API, or a part of one. Its last part has done set.
func AddOllama(s *Said, piece []byte) error {
	var raw struct {
		Message *struct {
			Content string `json:"content"`
		} `json:"message"`
		Done       bool            `json:"done"`
		DoneReason word            `json:"done_reason"`
		Prompt     count           `json:"prompt_eval_count"`
		Completion count           `json:"eval_count"`
		Error      json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(piece, &raw); err != nil {
		return err
	}
	if isSet(raw.Error) && string(raw.Error) != `""` {
		s.Failure = raw.Error
	}
	if raw.Message != nil {
		s.begun = true
		s.Text = append(s.Text, raw.Message.Content...)
	}
	if raw.Done && s.begun {
		s.ended, s.Finish, s.Prompt, s.Completion = true, string(raw.DoneReason), int(raw.Prompt), int(raw.Completion)
	}
	return nil
}

// isSet reports whether a member exists and is not null.
func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// text is the content of a message: a string, null, or a list of parts whose texts are joined.
type text string

func (t *text) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, (*string)(t)) == nil {
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts) // otherwise it has no text
	for _, p := range parts {
		*t += text(p.Text)
	}
	return nil
}

// arguments are the arguments of a tool call, as JSON or as a string that contains JSON.
type arguments string

func (a *arguments) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, (*string)(a)) != nil {
		*a = arguments(raw)
	}
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
