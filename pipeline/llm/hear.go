package llm

import (
	"context"
	"maps"
	"strings"

	"nightdesk/pipeline/llm/answer"
	"nightdesk/pipeline/llm/wire"
)

// listen requests the answer as a stream if there is a live reader, and returns a function to call at the end of the
// answer. The judge's answers are not shown.
func (r *role) listen(ctx context.Context, req Request, f form, ex *wire.Exchange) (end func()) {
	end = func() {}
	if r.hear == nil || f.noStream || req.Role == Judge {
		return end
	}
	tell := r.hear(ctx, req.Position)
	if tell == nil {
		return end
	}
	end = func() { tell("") }
	maps.Copy(ex.Set, r.protocol.streamed)
	if len(req.Prompt.Schema) == 0 {
		var t thoughtless
		ex.Heard = func(text, _ string) { tellSome(tell, t.next(text)) }
		return end
	}
	var v answer.Values
	ex.Heard = func(text, arguments string) {
		if f.transport == TransportTool {
			text = arguments
		}
		tellSome(tell, v.Next(text))
	}
	return end
}

func tellSome(tell func(string), text string) {
	if text != "" {
		tell(text)
	}
}

// thoughtless removes the thinking before a model's answer.
type thoughtless struct {
	begin string // text that may still become a thinking tag
	begun bool   // the answer has begun
}

func (t *thoughtless) next(text string) string {
	if t.begun {
		return text
	}
	t.begin += text
	begin := strings.TrimLeft(t.begin, " \r\n\t")
	if short := min(len(begin), len(thinkBegin)); begin[:short] == thinkBegin[:short] {
		_, after, ended := strings.Cut(begin, thinkEnd)
		if !ended {
			return ""
		}
		begin = strings.TrimLeft(after, " \r\n\t")
	}
	if begin != "" {
		t.begun, t.begin = true, ""
	}
	return begin
}

const thinkBegin, thinkEnd = "<think>", "</think>"
