package topicqueue

// How a report is read aloud, under the names of the message schema's settings.
const (
	AudioNone     = ""                        // not at all
	AudioExtended = "extended_audio"          // the whole report, by one voice
	AudioSingle   = "single_podcast_overview" // its main points, by one voice
	AudioDual     = "dual_podcast_overview"   // its main points, by two voices that talk
)

// Narration is what a report was read aloud as, or why it was not.
type Narration struct {
	Mode       string  `json:"mode"`                 // one of the Audio... constants
	File       string  `json:"file,omitempty"`       // storage key of the sound; empty: there is none
	Transcript string  `json:"transcript,omitempty"` // storage key of the words with their times
	Seconds    float64 `json:"seconds,omitempty"`
	Engine     string  `json:"engine,omitempty"` // that spoke
	// voices of the engine, in the order in which the transcript names them
	Voices []string `json:"voices,omitempty"`
	// what a model should have done for the script and did not, for a person
	Fallbacks []string `json:"fallbacks,omitempty"`
	// sentences of a model's script that are not spoken: their figures do not stand in the report
	LeftOut int    `json:"left_out,omitempty"`
	Problem string `json:"problem,omitempty"` // why there is none, for a person
}
