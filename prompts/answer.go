package prompts

// Answers to the structured prompts. The schemas require every key; lists may be empty.

// RephraseAnswer is the rewritten topic.
type RephraseAnswer struct {
	Topic string `json:"topic"`
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

// DecideAnswer is a block's judgement of its evidence, and its next tool calls.
type DecideAnswer struct {
	Reasoning    string        `json:"reasoning"`
	IsSufficient bool          `json:"is_sufficient"`
	Actions      []Action      `json:"actions"`
	NewSubTopics []NewSubTopic `json:"new_sub_topics"`
}

// Action is a tool call requested by a model.
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

// NoteAnswer lists the claims extracted from sources.
type NoteAnswer struct {
	Claims []NoteClaim `json:"claims"`
	Orders []NoteOrder `json:"orders"`
}

// NoteClaim is a statement with the words of the source that support it.
type NoteClaim struct {
	Source int    `json:"source"` // ordinal of the source, counted from 1
	Block  string `json:"block"`  // id of the block that it is about
	Text   string `json:"text"`
	Quote  string `json:"quote"`
}

// NoteOrder is text in a source that gives orders to assistants.
type NoteOrder struct {
	Source int    `json:"source"` // ordinal of the source, counted from 1
	Words  string `json:"words"`  // its first words, verbatim
}

// ReviewAnswer lists what the evidence of a run lacks and where it contradicts itself.
type ReviewAnswer struct {
	Draft     string      `json:"draft"` // empty unless requested
	Reasoning string      `json:"reasoning"`
	Gaps      []ReviewGap `json:"gaps"`

	Contradictions []ReviewedPair `json:"contradictions"`
	Open           []string       `json:"open"` // open questions without a gap
}

// ReviewedPair is a pair of claims that cannot both be true.
type ReviewedPair struct {
	A   int    `json:"a"` // numbers of the claims
	B   int    `json:"b"`
	Why string `json:"why"` // the difference, and its explanation
}

// ReviewGap is a new block requested by a review.
type ReviewGap struct {
	Title    string   `json:"title"`
	Overview string   `json:"overview"`
	Queries  []string `json:"queries"`
	Parent   string   `json:"parent"` // block that it continues; empty: none
	Reason   string   `json:"reason"`
}

// RenewAnswer lists the sections of the last report to rewrite.
type RenewAnswer struct {
	Sections []RenewedSection `json:"sections"`
}

// RenewedSection is a section to rewrite.
type RenewedSection struct {
	Section     int    `json:"section"` // its number
	Claims      []int  `json:"claims"`  // numbers of the claims to use
	Instruction string `json:"instruction"`
}

// OutlineAnswer is the outline of a report.
type OutlineAnswer struct {
	Form         string           `json:"form"` // one of Forms
	Computations []Computation    `json:"computations"`
	Title        string           `json:"title"`
	Introduction string           `json:"introduction"` // instruction for its writer
	Sections     []OutlineSection `json:"sections"`
	Conclusion   string           `json:"conclusion"` // instruction for its writer; empty: none
	KeyClaims    []int            `json:"key_claims"` // by number
}

// Computation is a figure to compute from claims.
type Computation struct {
	What       string `json:"what"` // what the result is, with its unit
	Expression string `json:"expression"`
	Claims     []int  `json:"claims"` // numbers of the claims that have its figures
}

// OutlineSection is one section of an outline.
type OutlineSection struct {
	Title       string              `json:"title"`
	Instruction string              `json:"instruction"`
	BlockIDs    []string            `json:"block_ids"` // blocks whose claims belong here unless Claims places them
	Claims      []int               `json:"claims"`    // by number
	Subsections []OutlineSubsection `json:"subsections"`
}

// OutlineSubsection is one subsection of an outline.
type OutlineSubsection struct {
	Title       string `json:"title"`
	Instruction string `json:"instruction"`
	Claims      []int  `json:"claims"` // by number
}

// JudgeAnswer holds a judge's findings for each sentence.
type JudgeAnswer struct {
	Findings []JudgeFinding `json:"findings"`
}

// JudgeFinding is the judgement of one sentence.
type JudgeFinding struct {
	Sentence int      `json:"sentence"` // its number
	Places   []string `json:"places"`   // numbers of sentences and rows of sources: 2.13; N.0: what is above source N
	Sum      string   `json:"sum"`      // calculation of a figure; empty: nothing is computed
	Wrong    string   `json:"wrong"`    // what is wrong; empty: nothing
	Verdict  string   `json:"verdict"`  // JudgedSupported, ...
	Text     string   `json:"text"`     // the sentence as the sources say it, if they contradict it; else empty
}
