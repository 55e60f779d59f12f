package llm

import (
	"context"
	"maps"
	"strings"

	"nightdesk/pipeline/llm/answer"
	"nightdesk/pipeline/llm/wire"
)

// listen asks for the answer piece by piece when somebody reads along, and returns what to do at its end. What the
// judge says is for nobody to read.
func (r *role) listen(ctx context.Context, req Request, f form, ex *wire.Exchange) (end func()) {
	end = func() {}
	if r.hear == nil || !f.stream || req.Role == Judge {
		return end
	}
	tell := r.hear(ctx, req.Position)
	if tell == nil {
		return end
	}
	end = func() { tell("") }
	ex.Stream = r.protocol.stream()
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

// thoughtless leaves out what a model thinks before it answers.
type thoughtless struct {
	begin string // that may still become the mark of a thought
	begun bool   // the answer has
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
