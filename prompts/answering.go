package prompts

// Reasons for requesting an answer as a text.
const (
	NowSpent   = "spent"   // nothing more is looked up
	NowUncited = "uncited" // the answer before cites nothing
)

// Found is the result of one tool call.
type Found struct {
	Tool    string
	Query   string
	Problem string    // why there is no result; empty: see Sources
	Sources []Passage // ID is the marker of each
}

// FollowUp is an earlier question about a report, with its answer.
type FollowUp struct{ Question, Answer string }

// AnswerData asks for the answer to a question from the given results.
type AnswerData struct {
	Topic  string
	Found  []Found // all results
	Why    string  // one of the Now... constants
	Marker string  // example marker for the end of the prompt, where small models notice it; empty: none

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

// LookUpAnswer lists what to look up next, or has the answer if the results suffice.
type LookUpAnswer struct {
	Reasoning string   `json:"reasoning"`
	Actions   []Action `json:"actions"`
	Answer    string   `json:"answer"` // Markdown with [CIT-1-01] markers; empty with actions
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

// Answer asks for the answer to a question: Markdown with [CIT-1-01] markers.
func Answer(lang string, d AnswerData) Prompt { return freeText("answer", lang, d, maxAnswer) }

// maxAnswer is several times the requested length, in tokens.
const maxAnswer = 3000

// LookUp asks what to look up next, or for the answer (LookUpAnswer).
func LookUp(lang string, d LookUpData) Prompt {
	names := make([]string, len(d.Tools))
	for i, t := range d.Tools {
		names[i] = t.Name
	}
	p := structured("look_up", lang, d, maxAnswer, Bound{Property: "actions", Most: d.MaxCalls},
		Bound{Property: "tool_type", OneOf: names})
	p.Think = true
	return p
}

// Route asks whether to answer a question in one conversation or by research (RouteAnswer).
func Route(lang string, d RouteData) Prompt {
	return structured("route", lang, d, 300)
}
