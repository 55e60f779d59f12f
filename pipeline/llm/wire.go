package llm

import (
	"encoding/json"
	"errors"
	"strings"

	"nightdesk/topicqueue"
)

// errBody marks an answer with status 200 that begins as one of the protocol and cannot be read.
var errBody = errors.New("not a chat completion")

// wireAnswer is the part of an answer that we use, whatever the protocol. It is read more tolerantly than langchaingo
// does: content may be null or a list of parts, arguments a string or an object, usage missing or odd, null stands for
// anything.
type wireAnswer struct {
	text         string
	calls        []wireCall
	finishReason string
	prompt       int // tokens; 0 = not told
	completion   int
	cached       int             // of prompt: read from the provider's cache
	cacheWritten int             // of prompt: written to it
	failure      json.RawMessage // an error object sent with status 200
}

// usage is what the answer says of its tokens.
func (a wireAnswer) usage() topicqueue.Usage {
	return topicqueue.Usage{PromptTokens: a.prompt, CompletionTokens: a.completion, CachedTokens: min(a.cached, a.prompt),
		CacheWriteTokens: min(a.cacheWritten, a.prompt-min(a.cached, a.prompt))}
}

type wireCall struct{ name, arguments string }

// isSet reports whether a member is there and not null.
func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// contentText joins the text of a message whose content is a string, null, or a list of parts.
func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// count reads a number of tokens; 0 for what is none.
func count(raw json.RawMessage) int {
	var n float64
	if json.Unmarshal(raw, &n) != nil {
		return 0
	}
	const most = 1 << 30 // also keeps nonsense out of sums
	return int(min(max(n, 0), most))
}

// encode is json.Marshal for what always can be encoded: strings, numbers, lists and maps of them.
func encode(answer any) []byte {
	body, err := json.Marshal(answer)
	if err != nil {
		panic("encode an answer: " + err.Error())
	}
	return body
}
