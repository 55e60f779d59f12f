package prompts

// Data of the prompts. Strings are UTF-8; what comes from sources or from a model is quoted by the templates.

// RephraseData asks for the topic as a research brief of 200 to 400 words.
type RephraseData struct {
	Topic    string
	Previous string // brief of the previous round, empty in the first
	Problem  string // what is wrong with Previous, for example its length
}

// QueriesData asks for exactly N search queries that cover the topic.
type QueriesData struct {
	Topic string
	N     int
}

// Passage is a retrieved text shown to a model.
type Passage struct {
	ID    string // PLAN-01, or the ordinal that an answer refers to
	Title string // of the document or page
	By    string // who wrote and who published it; empty: not known
	Date  string // of the document, YYYY-MM-DD or YYYY; empty: not known
	Head  string // how the document begins that Text is a part of
	Place string // section path, page or URL
	Text  string
}

// DecomposeData asks for sub-topics.
type DecomposeData struct {
	Topic    string
	Exactly  bool // exactly N sub-topics, else at most N
	N        int
	Passages []Passage // what background retrieval found; may be empty
}

// BlockLine names one block of the run.
type BlockLine struct {
	ID    string // block_3
	Title string
}

// ClaimLine is one claim shown to a model.
type ClaimLine struct {
	CitationID string // CIT-3-02
	Text       string
	Quote      string // verbatim words of the source; empty when they equal Text
	Source     string // title, place, genre and date, for a person
	Place      string // where in it, if Source does not say so
	Support    int    // documents of different origin that state it; 0 = not known
}

// ToolLine describes one enabled tool.
type ToolLine struct {
	Name        string
	Description string
}

// Phases of a block's loop.
const (
	PhaseEarly  = "early"  // prefer the knowledge base
	PhaseMiddle = "middle" // add papers and web
	PhaseLate   = "late"   // fill gaps with everything
)

// DecideData asks one block to judge its evidence and to plan the next calls.
type DecideData struct {
	Topic          string
	Blocks         []BlockLine
	BlockID        string
	Title          string
	Overview       string
	StarterQueries []string // not issued yet
	Tools          []ToolLine
	MaxActions     int
	Flexible       bool // may stop early; otherwise all iterations are done
	Iteration      int  // counted from 1
	MaxIterations  int
	Phase          string
	MinScore       float64     // of a new sub-topic; 0: the usual 0.85
	Claims         []ClaimLine // of this block so far, the newest
	Left           int         // older claims of it that are not shown
	Parent         string      // block that led to this one; empty for a planned one
	ParentClaims   []ClaimLine // of it, the newest
	ParentRead     []string    // addresses and document keys of what it has read
	Ledger         []OtherBlock
	Queries        []string // issued by this block
	Others         []string // issued by other blocks, those most like this one's subject
	OthersLeft     int      // that are not shown
	Feedback       []string // what became of the last iteration's actions and proposals, a line each
}

// OtherBlock is what another block has found.
type OtherBlock struct {
	ID     string
	Claims []ClaimLine // the best of them
	Left   int         // claims that are not shown
}

// NoteData asks for notes of what tool calls returned.
type NoteData struct {
	Topic    string
	Title    string
	Overview string
	Asked    []string  // the calls: tool and query
	Sources  []Passage // ID is the ordinal 1, 2, ... that a claim's source refers to
}

// ReviewData asks what the evidence of a run lacks, and which of its blocks are one subject.
type ReviewData struct {
	Topic   string
	Blocks  []ReviewBlock
	Unread  []UnreadDocument
	MaxGaps int  // new blocks, at most
	Draft   bool // a short answer of the topic is drafted first
}

// UnreadDocument is a document of the knowledge base that no search of the run has returned.
type UnreadDocument struct {
	Title     string
	Label     string // kind, publisher and date, as far as they are known
	Beginning string // of its text
}

// ReviewBlock is a block that has ended.
type ReviewBlock struct {
	ID       string
	Title    string
	Overview string
	Trouble  string // why it failed or ended early; empty: it did not
	Claims   []PlaceClaim
	Left     int // claims that are not shown
}

// BlockDigest is a researched block shown to the editor.
type BlockDigest struct {
	ID       string
	Title    string
	Overview string
	Claims   []PlaceClaim
	Left     int // claims that are not shown
}

// OutlineData asks for a three-level outline with the claims of each part.
type OutlineData struct {
	Topic  string
	Blocks []BlockDigest
	// Disagreements are pairs of claims that cannot both be true.
	Disagreements []Disagreement
}

// PlaceData asks which claims belong in which section.
type PlaceData struct {
	Topic    string
	Sections []PlaceSection
	Claims   []PlaceClaim
}

// PlaceSection is one section of an outline that is given.
type PlaceSection struct {
	Number      int // counted from 1
	Title       string
	Instruction string
	Parts       []string // titles of its subsections
}

// RenewData asks which sections of the last report must be written again.
type RenewData struct {
	Topic     string
	Sections  []RenewSection
	Claims    []PlaceClaim // new, or changed
	Withdrawn []string     // what sources say no longer
}

// RenewSection is one section of the last report.
type RenewSection struct {
	Number int // counted from 1
	Title  string
	Text   string // Markdown; empty: the window has no room for it
}

// PlaceClaim is one claim that an answer names by its number.
type PlaceClaim struct {
	Number int // counted from 1
	Text   string
	Source string // title, genre and date; empty: not shown
}

// SubsectionLine is one subsection of an outline.
type SubsectionLine struct {
	Title       string
	Instruction string
	Claims      []ClaimLine // that the editor has placed there
}

// SectionData asks for the text of one section from its own claims.
type SectionData struct {
	Topic       string
	ReportTitle string
	Sections    []string // titles of all sections, so that this one does not repeat the others
	Title       string
	Instruction string
	Subsections []SubsectionLine
	Part, Parts int          // counted from 1, when the claims of the section are more than one question holds; 0: it is the whole
	Claims      []ClaimLine  // those that stand in no subsection
	Figures     []FigureLine // that are shown below the section when it cites their sources
	// Disagreements are pairs of statements that cannot both be true, at least one of them of Claims.
	Disagreements []Disagreement
	Remarks       []RemarkLine
	Last          string // the section of the last report; empty: there is none
}

// RemarkLine is what a reader has said about the last report on the topic: foreign text.
type RemarkLine struct {
	Sentence string // of that report; empty: it is about all of it
	Words    string
}

// FigureLine is a figure of a source.
type FigureLine struct {
	CitationID string
	Title      string
}

// Disagreement is two statements that cannot both be true.
type Disagreement struct {
	A, B DisagreementSide
	Why  string // what differs, and what may explain it; empty: unknown
}

// DisagreementSide is one of them.
type DisagreementSide struct {
	Text        string
	CitationIDs []string
	Support     int // documents of different origin that state it
}

// FrameData asks for the introduction and the conclusion of a report whose sections are written.
type FrameData struct {
	Topic        string
	ReportTitle  string
	Introduction string // instruction
	Conclusion   string // instruction
	Sections     []WrittenSection
	Open         []string         // what the research could not answer, a line each
	Judged       []BlockJudgement // where no review says what is open
	Remarks      []RemarkLine
}

// BlockJudgement is what a block said last of evidence that did not suffice.
type BlockJudgement struct{ Title, Said string }

// WrittenSection is a finished section shown to the writers of introduction and conclusion.
type WrittenSection struct {
	Title string
	Text  string // Markdown with markers
	Left  int    // paragraphs at its end that are not shown
}

// RepairSectionData asks for new texts of sentences that their sources do not bear out.
type RepairSectionData struct {
	Title     string // of the section; empty for the introduction
	Sentences []UnsupportedLine
	Claims    []ClaimLine // of the sources that they cite
}

// UnsupportedLine is one sentence to be repaired.
type UnsupportedLine struct {
	Number  int    // counted from 1
	Text    string // with its markers
	Problem string // one plain sentence
	Passage string // of the sources, on what it says; may be empty
}

// JudgeData asks whether sentences follow from the passages of their sources.
type JudgeData struct {
	Sources   []JudgeSource
	Sentences []JudgeSentence
}

// JudgeSource is what is shown of one source.
type JudgeSource struct {
	Number   int       // counted from 1
	Same     int       // number of an earlier source whose title, author and date it shares; 0: none
	Passages []Passage // in the order of the source; the first says what is known of it
}

// JudgeSentence is one sentence to be judged.
type JudgeSentence struct {
	Number   int    // counted from 1
	Text     string // without markers
	Head     string // of a row of a table: the table's first row
	Sources  string // numbers of those that it cites: 1, 3
	Computed string // figures that could be computed from the sources, each with how; may be empty
	Missing  string // quotations and figures that a program did not recognise; may be empty
}

// RepairData asks once more after an answer that did not fit its schema.
type RepairData struct {
	Answer string   // what the model wrote, cut to a sensible length
	Errors []string // all validation errors, with paths
	Schema string
}
