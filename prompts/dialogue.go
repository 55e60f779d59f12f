package prompts

// ClarifyData asks whether a topic is clear enough for research.
type ClarifyData struct {
	Topic    string    // including the user's answers so far: see WithSaid
	Passages []Passage // relevant passages of the knowledge base; may be empty
}

// ClarifyAnswer accepts a topic or asks the user one question.
type ClarifyAnswer struct {
	Reason   string `json:"reason"`
	Ask      bool   `json:"ask"`
	Question string `json:"question"`
}

// Clarify asks whether the research can start or the user must be asked (ClarifyAnswer).
func Clarify(lang string, d ClarifyData) Prompt { return structured("clarify", lang, d, 600) }

// SatisfiedData asks whether the user accepts a plan.
type SatisfiedData struct{ Topic, Plan, Answer string }

// SatisfiedAnswer says whether the user accepts the plan.
type SatisfiedAnswer struct {
	Reason    string `json:"reason"`
	Satisfied bool   `json:"satisfied"`
}

// Satisfied asks whether the user's answer accepts the plan (SatisfiedAnswer).
func Satisfied(lang string, d SatisfiedData) Prompt { return structured("satisfied", lang, d, 400) }

// Said is a question to the user with the answer in the user's own words; empty: no answer.
type Said struct{ Question, Answer string }

type saidData struct {
	Topic string
	Said  []Said
}

// WithSaid returns a topic with the questions to the user and the answers, in the language of lang's templates. The
// result replaces the topic in prompts and is quoted like it.
func WithSaid(lang, topic string, said []Said) string {
	if len(said) == 0 {
		return topic
	}
	set, _ := choose(lang)
	return set.render("said.tmpl", saidData{topic, said})
}
