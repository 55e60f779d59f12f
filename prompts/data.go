package prompts

// Data of the prompts. Strings are UTF-8. The templates quote text from sources and models.

// RephraseData asks for the topic as a research brief of 200 to 400 words.
type RephraseData struct {
	Topic    string
	Previous string // brief of the previous round, empty in the first
	Problem  string // what is wrong with Previous, for example its length
}

// Passage is a retrieved text shown to a model.
type Passage struct {
	ID    string // PLAN-01, or the ordinal that the answer refers to
	Title string // of the document or page
	By    string // author and publisher; empty: unknown
	Date  string // of the document, YYYY-MM-DD or YYYY; empty: unknown
	Head  string // beginning of the document that contains Text
	Place string // section path, page or URL
	Text  string
}

// DecomposeData asks for sub-topics.
type DecomposeData struct {
	Topic    string
	Exactly  bool // exactly N sub-topics, else at most N
	N        int
	Passages []Passage // results of the background retrieval; may be empty
}

// BlockLine identifies a block of the run.
type BlockLine struct {
	ID    string // block_3
	Title string
}

// ClaimLine is a claim shown to a model.
type ClaimLine struct {
	CitationID string // CIT-3-02
	Text       string
	Quote      string // verbatim words of the source; empty if equal to Text
	Source     string // title, place, genre and date, for display
	Place      string // place in the source, if Source does not contain it
	Support    int    // number of documents of different origin that state it; 0 = unknown
}

// ToolLine describes an enabled tool.
type ToolLine struct {
	Name        string
	Description string
}

// DecideData asks a block to judge its evidence and to plan the next tool calls.
type DecideData struct {
	Topic          string
	Blocks         []BlockLine
	BlockID        string
	Title          string
	Overview       string
	StarterQueries []string // not used yet
	Tools          []ToolLine
	MaxActions     int
	Flexible       bool // may stop early; otherwise all iterations run
	Iteration      int  // counted from 1
	MaxIterations  int
	MinScore       float64      // minimum score of a new sub-topic; 0: the default 0.85
	Claims         []ClaimLine  // newest claims of this block
	Left           int          // number of older claims not shown
	Ledger         []OtherBlock // the block that this one continues first
	Queries        []string     // issued by this block
	Feedback       []string     // results of the last iteration's actions and proposals, one line each
}

// OtherBlock holds the claims of another block.
type OtherBlock struct {
	ID     string
	Claims []ClaimLine // the best claims
	Left   int         // number of claims not shown
}

// SourceDocument is a document or page, with all its parts that a prompt shows.
type SourceDocument struct {
	ID    string // the ordinal 1, 2, ... that answers refer to
	Title string
	By    string // author and publisher; empty: unknown
	Date  string // YYYY-MM-DD or YYYY; empty: unknown
	Head  string // its beginning, unless Parts starts with it
	Parts []DocumentPart
}

// DocumentPart is a part of a document's text.
type DocumentPart struct {
	Place string // section path, page or URL; empty: as the part before
	Text  string
}

// NoteData asks for claims from sources.
type NoteData struct {
	Topic   string
	Sources []SourceDocument
	Blocks  []NoteBlock // all blocks of the run
	Own     string      // block whose calls returned the sources; empty: they are read for all blocks alike
	Purpose string      // overview of Own
	Asked   []string    // these calls: tool and query
	Most    int         // maximum number of claims
}

// NoteBlock is a block that claims may be about.
type NoteBlock struct {
	ID       string
	Title    string
	Overview string // may be empty
}

// ReviewData asks what the evidence of a run lacks and where it contradicts itself.
type ReviewData struct {
	Topic   string
	Blocks  []ReviewBlock
	Unread  []UnreadDocument
	MaxGaps int  // maximum number of new blocks
	Draft   bool // draft a short answer to the topic first
}

// UnreadDocument is a document of the knowledge base without a claim.
type UnreadDocument struct {
	Title     string
	Label     string // kind, publisher and date, if known
	Beginning string // of its text
}

// ReviewBlock is a finished block.
type ReviewBlock struct {
	ID       string
	Title    string
	Overview string
	Trouble  string // why it failed or ended early; empty: it did neither
	Claims   []PlaceClaim
	Left     int // number of claims not shown
}

// BlockDigest is a finished block shown to the editor.
type BlockDigest struct {
	ID       string
	Title    string
	Overview string
	Claims   []PlaceClaim
	Left     int // number of claims not shown
}

// OutlineData asks for a three-level outline with the claims of each part.
type OutlineData struct {
	Topic  string
	Blocks []BlockDigest
	// Disagreements are pairs of claims that cannot both be true.
	Disagreements []Disagreement
	Draft         string     // answer that the review drafted; empty: none
	Open          []string   // questions that the research could not answer, one per line
	Sections      []PartLine // of a template; none: the outline plans them
}

// RenewData asks which sections of the last report to rewrite.
type RenewData struct {
	Topic     string
	Sections  []RenewSection
	Claims    []PlaceClaim // new or changed claims
	Withdrawn []string     // statements that the sources no longer make
}

// RenewSection is a section of the last report.
type RenewSection struct {
	Number int // counted from 1
	Title  string
	Text   string // Markdown; empty: does not fit into the context window
}

// PlaceClaim is a claim that answers refer to by number.
type PlaceClaim struct {
	Number int // counted from 1
	Text   string
	Source string // title, genre and date; empty: not shown
}

// SubsectionLine is a subsection of an outline.
type SubsectionLine struct {
	Title       string
	Instruction string
	Claims      []string // citations of the claims that the editor has placed there
}

// AuthorData asks for parts of a report: for all of them, for one section, or for opening and conclusion.
type AuthorData struct {
	Claims   []ClaimLine      // claims of the parts
	Computed []ClaimLine      // figures computed from claims, which every part may use
	Also     []ClaimLine      // key claims of other sections
	Written  []WrittenSection // finished sections
	// Disagreements lists pairs of contradicting statements. Each pair includes at least one of Claims.
	Disagreements []Disagreement
	Open          []string // questions that the research could not answer, one per line
	Remarks       []RemarkLine
	Topic         string
	ReportTitle   string
	Form          string // one of Forms; empty: that of the parts
	Parts         []PartLine
	Others        []string // titles of the sections that others write
	Slice         bool     // the claims are only some of the section's
}

// PartLine is a part of a report to write, or a section of a template.
type PartLine struct {
	Number              int // counted from 1
	Opening, Conclusion bool
	Title               string // of a section
	Instruction         string
	Subsections         []SubsectionLine
	Claims              []string     // citations of the claims that belong to it, and to no subsection
	Figures             []FigureLine // figures to show below the section if it cites their sources
	Last                string       // the section in the last report; empty: none
}

// RemarkLine is a reader's remark about the last report on the topic. It is external text.
type RemarkLine struct {
	Sentence string // sentence that the remark is about; empty: the whole report
	Words    string
}

// FigureLine is a figure from a source.
type FigureLine struct {
	CitationID string
	Title      string
}

// Disagreement is a pair of claims that cannot both be true.
type Disagreement struct {
	A, B string // numbers or markers of the claims, with their texts if Why is empty
	Why  string // the difference, and its possible explanation; empty: unknown
}

// WrittenSection is a finished section, for the writers of introduction and conclusion.
type WrittenSection struct {
	Title string
	Text  string // Markdown with markers
	Left  int    // number of paragraphs at the end that are not shown
}

// JudgeData asks whether sentences follow from the passages of their sources.
type JudgeData struct {
	Sources   []JudgeSource
	Sentences []JudgeSentence
}

// JudgeSource is a source with the passages shown to the judge.
type JudgeSource struct {
	Number   int       // counted from 1
	Same     int       // number of an earlier source with the same title, author, date and beginning; 0: none
	Passages []Passage // in the order of the source; the first has the source's metadata
}

// JudgeSentence is a sentence to judge.
type JudgeSentence struct {
	Number  int    // counted from 1
	Text    string // with the numbers of its sources where it cites them: {1}
	Head    string // for a table row: the header row of the table
	Missing string // quotations and figures that the program did not find; may be empty
}

// RepairData asks for a new answer after one that did not match its schema.
type RepairData struct {
	Answer string   // the model's answer, truncated
	Errors []string // all validation errors, with paths
	Schema string
}
