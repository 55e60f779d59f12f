package prompts

// NarrateData asks for a report, or a section of it, as it is read aloud.
type NarrateData struct {
	Title   string // of the report
	Section string // title of the section; empty: Text is more than one
	Text    string // Markdown
	Left    int    // paragraphs of Text that are not shown
	Whole   bool   // all that Text says is told; otherwise the main points are
	Two     bool   // two voices talk; otherwise one speaks
}

// NarrateAnswer is a script.
type NarrateAnswer struct {
	Turns []NarrateTurn `json:"turns"`
}

// NarrateTurn is what one speaker says at a stretch.
type NarrateTurn struct {
	Speaker string `json:"speaker"` // SpeakerA or SpeakerB
	Text    string `json:"text"`
}

// The speakers of a script.
const (
	SpeakerA = "A"
	SpeakerB = "B"
)

// Narrate asks for a script (NarrateAnswer). Its answer to a whole text is about as long as that.
func Narrate(lang string, d NarrateData) Prompt {
	names, tokens := []string{SpeakerA}, 2500
	if d.Two {
		names, tokens = []string{SpeakerA, SpeakerB}, 3500
	}
	if d.Whole {
		tokens = 600 + len(d.Text)/2
	}
	return structured("narrate", lang, d, tokens, Bound{Property: "turns", Least: 1, Most: 60},
		Bound{Property: "speaker", OneOf: names})
}
