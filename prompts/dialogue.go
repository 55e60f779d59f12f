package prompts

// ClarifyData asks whether a topic is clear enough to be researched.
type ClarifyData struct {
	Topic    string    // with what the user has said already: see WithSaid
	Passages []Passage // what the knowledge base says on it; may be empty
}

// ClarifyAnswer lets a topic through, or asks the user one question.
type ClarifyAnswer struct {
	Reason   string `json:"reason"`
	Ask      bool   `json:"ask"`
	Question string `json:"question"`
}

// Clarify asks whether the research can begin or the user must be asked (ClarifyAnswer).
func Clarify(lang string, d ClarifyData) Prompt { return structured("clarify", lang, d, 600) }

// SatisfiedData asks whether a user wants a plan as it was shown.
type SatisfiedData struct{ Topic, Plan, Answer string }

// SatisfiedAnswer says so.
type SatisfiedAnswer struct {
	Reason    string `json:"reason"`
	Satisfied bool   `json:"satisfied"`
}

// Satisfied asks whether a user who was shown a plan wants it so (SatisfiedAnswer).
func Satisfied(lang string, d SatisfiedData) Prompt { return structured("satisfied", lang, d, 400) }

// Said is a question to the user, and the answer in the user's own words; empty: there was none.
type Said struct{ Question, Answer string }

type saidData struct {
	Topic string
	Said  []Said
}

// WithSaid returns a topic with what the user was asked about it and has answered, in the language of lang's
// templates. It stands for the topic wherever that is asked for, and is quoted like it.
func WithSaid(lang, topic string, said []Said) string {
	if len(said) == 0 {
		return topic
	}
	set, _ := choose(lang)
	return set.render("said.tmpl", saidData{topic, said})
}
