package prompts

// What an answer is written now for.
const (
	NowSpent      = "spent"      // there are no tool calls any more
	NowUnsearched = "unsearched" // it was given without a single call: look it up first
	NowUncited    = "uncited"    // it cites nothing
)

// Now tells a model in the middle of a conversation what it is to do.
type Now struct {
	Why    string // one of the Now... constants
	Marker string // of a source, as the example at the end, where small models look; empty: none
}

// Found is what one tool call has come to.
type Found struct {
	Tool    string
	Query   string    // that LookUp shows
	Problem string    // why there is nothing; empty: Sources says it
	Sources []Passage // ID is the marker of each
	Counted bool      // say how many calls are left
	Left    int
}

// FollowUp is a question about a report that was answered before.
type FollowUp struct{ Question, Answer string }

// AnswerData asks for the answer to a question, with tools at hand or from what was found.
type AnswerData struct {
	Topic    string
	MaxCalls int
	Found    []Found // with Now: all there is
	Now      *Now    // nil: the model has tools

	Report  string     // Markdown, that the question is about; empty: none
	Earlier []FollowUp // questions about it before
	Remarks []RemarkLine
}

// LookUpData asks what to look up next for the answer to a question.
type LookUpData struct {
	Topic    string
	Tools    []ToolLine
	Found    []Found // by the calls so far
	MaxCalls int     // that are left

	Report  string     // see AnswerData
	Earlier []FollowUp // see AnswerData
	Remarks []RemarkLine
}

// LookUpAnswer is what to look up next; no actions: it suffices.
type LookUpAnswer struct {
	Reasoning string   `json:"reasoning"`
	Actions   []Action `json:"actions"`
}

// RouteData asks which way a question goes.
type RouteData struct {
	Topic string
}

// RouteAnswer says which.
type RouteAnswer struct {
	Reason string `json:"reason"`
	Path   string `json:"path"` // shallow or deep
}

// Answer asks for the answer to a question: Markdown with [CIT-1-01] markers. With tools at hand the same question
// begins a conversation, which Result and Tell go on with.
func Answer(lang string, d AnswerData) Prompt { return freeText("answer", lang, d, maxAnswer) }

// maxAnswer is several times the length that the question asks for, in tokens.
const maxAnswer = 3000

// LookUp asks what to look up next, of a model that cannot call tools (LookUpAnswer).
func LookUp(lang string, d LookUpData) Prompt {
	names := make([]string, len(d.Tools))
	for i, t := range d.Tools {
		names[i] = t.Name
	}
	p := structured("look_up", lang, d, 1000, Bound{Property: "actions", Most: d.MaxCalls},
		Bound{Property: "tool_type", OneOf: names})
	p.Think = true
	return p
}

// Route asks whether a question needs one conversation or research (RouteAnswer).
func Route(lang string, d RouteData) Prompt {
	return structured("route", lang, d, 300)
}

// Result returns in User what a model is told of one of its calls.
func Result(lang string, d Found) Prompt { return said("found", lang, d) }

// Tell returns in User what a model is told in the middle of a conversation.
func Tell(lang string, d Now) Prompt { return said("answer_now", lang, d) }

// said is a text that a question which is there already goes on with: System and Schema of that one stay in force.
func said(name, lang string, data any) Prompt {
	set, _ := choose(lang)
	return Prompt{Name: name, User: set.render(name+".user.tmpl", data)}
}
