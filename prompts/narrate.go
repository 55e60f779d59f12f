package prompts

// NarrateData asks for a script that reads a report, or a section of it, aloud.
type NarrateData struct {
	Title   string // of the report
	Section string // title of the section; empty: Text has several sections
	Text    string // Markdown
	Left    int    // number of paragraphs of Text that are not shown
	Whole   bool   // narrate all of Text; otherwise only the main points
	Two     bool   // two speakers; otherwise one
}

// NarrateAnswer is a script.
type NarrateAnswer struct {
	Turns []NarrateTurn `json:"turns"`
}

// NarrateTurn is an uninterrupted turn of one speaker.
type NarrateTurn struct {
	Speaker string `json:"speaker"` // SpeakerA or SpeakerB
	Text    string `json:"text"`
}

// The speakers of a script.
const (
	SpeakerA = "A"
	SpeakerB = "B"
)

// Narrate asks for a script (NarrateAnswer). For a whole text, the script is about as long as the text.
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
