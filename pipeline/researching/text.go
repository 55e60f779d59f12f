package researching

// Limits of text from a model or a tool that is shown again, in bytes.
const (
	maxLine    = 200   // a title, query or message within a sentence
	maxThought = 2_000 // one thought_status
	maxClaim   = 1_000 // text or quote of a claim
	maxSummary = 8_000 // 500 words are about 3,500 bytes; longer text is not a summary
)
