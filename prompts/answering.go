package prompts

// Reasons for requesting an answer now.
const (
	NowSpent      = "spent"      // no tool calls are left
	NowUnsearched = "unsearched" // the answer was given without any tool call; look it up first
	NowUncited    = "uncited"    // the answer cites nothing
)

// Now tells a model in the middle of a conversation what to do next.
type Now struct {
	Why    string // one of the Now... constants
	Marker string // example marker for the end of the prompt, where small models notice it; empty: none
}

// Found is the result of one tool call.
type Found struct {
	Tool    string
	Query   string    // shown by LookUp only
	Problem string    // why there is no result; empty: see Sources
	Sources []Passage // ID is the marker of each
	Counted bool      // state the number of calls left
	Left    int
}

// FollowUp is an earlier question about a report, with its answer.
type FollowUp struct{ Question, Answer string }

// AnswerData asks for the answer to a question, with tools or from the given results.
type AnswerData struct {
	Topic    string
	MaxCalls int
	Found    []Found // with Now: all results
	Now      *Now    // nil: the model has tools

	Report  string     // Markdown of the report that the question is about; empty: none
	Earlier []FollowUp // earlier questions about it
	Remarks []RemarkLine
}

// LookUpData asks what to look up next to answer a question.
type LookUpData struct {
	Topic    string
	Tools    []ToolLine
	Found    []Found // results of the calls so far
	MaxCalls int     // number of calls left

	Report  string     // see AnswerData
	Earlier []FollowUp // see AnswerData
	Remarks []RemarkLine
}

// LookUpAnswer lists what to look up next. No actions means that the results suffice.
type LookUpAnswer struct {
	Reasoning string   `json:"reasoning"`
	Actions   []Action `json:"actions"`
}

// RouteData asks which path to use for a question.
type RouteData struct {
	Topic string
}

// RouteAnswer is the chosen path.
type RouteAnswer struct {
	Reason string `json:"reason"`
	Path   string `json:"path"` // shallow or deep
}

// Answer asks for the answer to a question: Markdown with [CIT-1-01] markers. With tools, the same prompt starts a
// conversation that Result and Tell continue.
func Answer(lang string, d AnswerData) Prompt { return freeText("answer", lang, d, maxAnswer) }

// maxAnswer is several times the requested length, in tokens.
const maxAnswer = 3000

// LookUp asks a model without tool calling what to look up next (LookUpAnswer).
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

// Route asks whether to answer a question in one conversation or by research (RouteAnswer).
func Route(lang string, d RouteData) Prompt {
	return structured("route", lang, d, 300)
}

// Result returns, in User, the message with the result of a tool call.
func Result(lang string, d Found) Prompt { return said("found", lang, d) }

// Tell returns, in User, an instruction in the middle of a conversation.
func Tell(lang string, d Now) Prompt { return said("answer_now", lang, d) }

// said returns a message that continues a conversation. System and Schema of its first prompt still apply.
func said(name, lang string, data any) Prompt {
	set, _ := choose(lang)
	return Prompt{Name: name, User: set.render(name+".user.tmpl", data)}
}
