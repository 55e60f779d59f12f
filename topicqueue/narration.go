package topicqueue

// How a report is read aloud, with the setting names of the message schema.
const (
	AudioNone     = ""                        // not read aloud
	AudioExtended = "extended_audio"          // the whole report, by one voice
	AudioSingle   = "single_podcast_overview" // its main points, by one voice
	AudioDual     = "dual_podcast_overview"   // its main points, by two voices in conversation
)

// Narration is the result of reading a report aloud, or the reason why it failed.
type Narration struct {
	Mode       string  `json:"mode"`                 // one of the Audio... constants
	File       string  `json:"file,omitempty"`       // storage key of the audio; empty: none
	Transcript string  `json:"transcript,omitempty"` // storage key of the words with their times
	Seconds    float64 `json:"seconds,omitempty"`
	Engine     string  `json:"engine,omitempty"` // speech engine
	// voices of the engine, in the transcript's order
	Voices []string `json:"voices,omitempty"`
	// script steps that a model should have done but did not, for display
	Fallbacks []string `json:"fallbacks,omitempty"`
	// number of script sentences not spoken because their figures are not in the report
	LeftOut int    `json:"left_out,omitempty"`
	Problem string `json:"problem,omitempty"` // why there is no audio, for display
}
