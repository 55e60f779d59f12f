package prompts

// Answers of the structured prompts. Every key is required by the schema; lists may be empty.

// RephraseAnswer is the rewritten topic.
type RephraseAnswer struct {
	Topic string `json:"topic"`
}

// QueriesAnswer lists search queries.
type QueriesAnswer struct {
	Queries []string `json:"queries"`
}

// DecomposeAnswer lists sub-topics with the queries to start them with.
type DecomposeAnswer struct {
	SubTopics []DecomposedTopic `json:"sub_topics"`
}

// DecomposedTopic is one sub-topic of a DecomposeAnswer.
type DecomposedTopic struct {
	Title    string   `json:"title"`
	Overview string   `json:"overview"`
	Queries  []string `json:"queries"`
}

// DecideAnswer is a block's judgement and its next calls.
type DecideAnswer struct {
	Reasoning    string        `json:"reasoning"`
	IsSufficient bool          `json:"is_sufficient"`
	Actions      []Action      `json:"actions"`
	NewSubTopics []NewSubTopic `json:"new_sub_topics"`
}

// Action is one tool call that a model asks for.
type Action struct {
	ToolType  string `json:"tool_type"`
	Query     string `json:"query"`
	Rationale string `json:"rationale"`
}

// NewSubTopic is a topic that a block proposes to add to the queue.
type NewSubTopic struct {
	Title     string  `json:"title"`
	Overview  string  `json:"overview"`
	Score     float64 `json:"score"` // 0 to 1
	ShouldAdd bool    `json:"should_add"`
}

// NoteAnswer is what was noted of the sources that tools returned.
type NoteAnswer struct {
	Claims []NoteClaim `json:"claims"`
}

// NoteClaim is one statement with the words of the source that carry it.
type NoteClaim struct {
	Source int    `json:"source"` // ordinal of the source, counted from 1
	Text   string `json:"text"`
	Quote  string `json:"quote"`
}

// ReviewAnswer says what the evidence of a run lacks, and which blocks are one subject.
type ReviewAnswer struct {
	Draft     string      `json:"draft"` // empty unless asked for; written to be held against the claims, and not used
	Reasoning string      `json:"reasoning"`
	Gaps      []ReviewGap `json:"gaps"`

	Contradictions []ReviewedPair `json:"contradictions"`
	Open           []string       `json:"open"` // what stays open and gets no gap
}

// ReviewedPair is a pair of claims that cannot both be true.
type ReviewedPair struct {
	A   int    `json:"a"` // numbers of the claims
	B   int    `json:"b"`
	Why string `json:"why"` // what differs, and what explains it
}

// ReviewGap is a block that a review asks for.
type ReviewGap struct {
	Title    string   `json:"title"`
	Overview string   `json:"overview"`
	Queries  []string `json:"queries"`
	Parent   string   `json:"parent"` // block that it goes on from; empty: none
	Reason   string   `json:"reason"`
}

// PlaceAnswer says which claims belong in which section.
type PlaceAnswer struct {
	Sections []PlacedClaims `json:"sections"`
}

// PlacedClaims are the claims of one section.
type PlacedClaims struct {
	Section int   `json:"section"` // its number
	Claims  []int `json:"claims"`  // their numbers
}

// RenewAnswer says which sections of the last report must be written again.
type RenewAnswer struct {
	Sections []RenewedSection `json:"sections"`
}

// RenewedSection is one of them.
type RenewedSection struct {
	Section     int    `json:"section"` // its number
	Claims      []int  `json:"claims"`  // numbers of those that it needs
	Instruction string `json:"instruction"`
}

// OutlineAnswer is the outline of a report.
type OutlineAnswer struct {
	Title        string           `json:"title"`
	Introduction string           `json:"introduction"` // instruction for its writer
	Sections     []OutlineSection `json:"sections"`
	Conclusion   string           `json:"conclusion"` // instruction for its writer
}

// OutlineSection is one section of an outline.
type OutlineSection struct {
	Title       string              `json:"title"`
	Instruction string              `json:"instruction"`
	BlockIDs    []string            `json:"block_ids"` // whose claims belong here unless they are placed by number
	Claims      []int               `json:"claims"`    // by number
	Subsections []OutlineSubsection `json:"subsections"`
}

// OutlineSubsection is one subsection of an outline.
type OutlineSubsection struct {
	Title       string `json:"title"`
	Instruction string `json:"instruction"`
	Claims      []int  `json:"claims"` // by number
}

// RepairSectionAnswer has new texts for unsupported sentences.
type RepairSectionAnswer struct {
	Repairs []SentenceRepair `json:"repairs"`
}

// SentenceRepair is the new text of one sentence.
type SentenceRepair struct {
	Sentence int    `json:"sentence"` // number of the sentence, counted from 1
	Text     string `json:"text"`     // empty: it is to be taken out
	Span     string `json:"span"`     // verbatim words of a source that show it
}

// JudgeAnswer says what a judge has found of each sentence.
type JudgeAnswer struct {
	Findings []JudgeFinding `json:"findings"`
}

// JudgeFinding is the judgement of one sentence.
type JudgeFinding struct {
	Sentence int    `json:"sentence"` // its number
	Span     string `json:"span"`     // verbatim words of a passage; empty: none
	Wrong    string `json:"wrong"`    // empty: nothing
	Verdict  string `json:"verdict"`  // JudgedSupported, ...
}
