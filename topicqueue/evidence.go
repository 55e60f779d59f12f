package topicqueue

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Kinds of sources.
const (
	SourceDocument = "document" // a passage of a knowledge base
	SourceWeb      = "web"
	SourcePaper    = "paper"
	SourceCode     = "code" // output of a program
	SourceTool     = "tool" // result of a tool that the operator added
)

// Genres of sources, in a reader's terms. A source whose genre cannot be determined has GenreUnknown.
const (
	GenrePaper         = "paper"    // reviewed, or presented as reviewed
	GenrePreprint      = "preprint" // paper on a server that does not review
	GenreDocumentation = "documentation"
	GenreReference     = "reference" // encyclopedia, dictionary, standard
	GenreNews          = "news"
	GenreForum         = "forum" // questions, answers, threads
	GenreBlog          = "blog"
	GenreGovernment    = "government"
	GenreOrganisation  = "organisation" // universities, associations, international bodies
	GenreRepository    = "repository"   // code or package repository
	GenreDataset       = "dataset"
	GenreVideo         = "video"
	GenreSocial        = "social"
	GenreShop          = "shop"
	GenreUnknown       = "unknown"
)

// Source is one item that a tool returned: a document passage, a page, a paper, a program's output. A citation always
// points to one source.
type Source struct {
	ID    string `json:"source_id"`       // SourceID of its location and text
	Kind  string `json:"kind"`            // one of the Source... constants
	Genre string `json:"genre,omitempty"` // one of the Genre... constants
	// registrable domain, such as example.co.uk for www.example.co.uk; empty without URL
	Domain   string   `json:"domain,omitempty"`
	Title    string   `json:"title"`              // of the document, page or paper
	URL      string   `json:"url,omitempty"`      // absolute; empty for a passage of a local file
	Document string   `json:"document,omitempty"` // document key: slash-separated path within the knowledge base
	Section  []string `json:"section,omitempty"`  // headings from the top level down to the passage
	Anchor   string   `json:"anchor,omitempty"`   // URL fragment of the section, without #
	Page     int      `json:"page,omitempty"`     // counted from 1; 0: no pages
	Offset   int      `json:"offset"`             // byte offset of Text in the document's extracted text
	Hash     string   `json:"sha256"`             // lower-case hex SHA-256 of Text
	// YYYY-MM-DD, YYYY-MM or YYYY, as stated by the source: published, else last changed; empty: unknown
	Date string `json:"date,omitempty"`
	// organisation, site, journal or conference, as it calls itself; empty: unknown
	Publisher string `json:"publisher,omitempty"`
	// HeadOf the document that contains Text; it often states author and date. Empty: none, or Text begins with it.
	Head string `json:"head,omitempty"`
	// as the source names them; at most 10, for a paper with "et al." for the rest
	Authors     []string  `json:"authors,omitempty"`
	DOI         string    `json:"doi,omitempty"`         // DOI of a paper, lower case, without resolver address
	File        string    `json:"file,omitempty"`        // absolute path of a document where it was indexed
	Figures     []Figure  `json:"figures,omitempty"`     // drawn by a program with its output, or found on a page
	RetrievedAt time.Time `json:"retrieved_at,omitzero"` // UTC
	Text        string    `json:"-"`                     // UTF-8; kept in storage under Hash, not in Redis
	// search score divided by the best score of that search, 0 to 1; 0: none
	Share float64 `json:"share,omitempty"`

	// For a page: the server's identifiers of this version. Empty: none.
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`

	AsOf *AsOf `json:"as_of,omitempty"` // set if an earlier run read the source; nil: this run did
}

// AsOf says when a source contained what a report says about it.
type AsOf struct {
	RunID string `json:"run_id"`         // run whose bundle has the text
	Date  string `json:"date"`           // day of that run, YYYY-MM-DD; with the time if the report is of the same day
	Gone  bool   `json:"gone,omitempty"` // the page no longer exists; false: it no longer says all of it
}

// Figure is a picture from a source.
type Figure struct {
	Path string `json:"path"` // figures/<sha256>.svg or .png in the run's bundle
	// one-line caption: the program's title, or the page's caption with site and licence
	Title string `json:"title"`

	// For a picture from a page:
	URL     string `json:"url,omitempty"`     // address from which it was fetched
	Licence string `json:"licence,omitempty"` // as stated by the page; empty: not stated
	// section that contains the picture, in bytes of Source.Text; End = 0: the whole text
	Start int `json:"start,omitempty"`
	End   int `json:"end,omitempty"`
}

// BesideClaim reports whether the figure belongs to claim c of its source.
func (f Figure) BesideClaim(c Claim) bool { return f.End == 0 || f.Start <= c.Start && c.End <= f.End }

// Limits of Source.By.
const (
	mostNamed   = 3  // maximum number of authors
	maxIssuer   = 60 // bytes of a publisher, because some sites put a slogan there
	maxNamed    = 60 // bytes of an author's name
	othersNamed = "et al."
)

// By returns the known authors and publisher of a source: "M. Lind, T. Oye, Harbour Authority".
func (s Source) By() string {
	var names []string
	for i, name := range s.Authors {
		if i == mostNamed {
			names = append(names, othersNamed)
			break
		}
		names = append(names, Clip(OneLine(name), maxNamed))
	}
	if p := Clip(OneLine(s.Publisher), maxIssuer); p != "" && !slices.Contains(names, p) {
		names = append(names, p)
	}
	return strings.Join(names, ", ")
}

// headBytes is the maximum length of Source.Head.
const headBytes = 200

// HeadOf returns the first lines of a text, joined into one line. Documents usually state their title, institution,
// author and date there, in a list or within a sentence.
func HeadOf(text string) string {
	var head []string
	for line := range strings.Lines(strings.ToValidUTF8(text[:min(len(text), 2*headBytes)], "")) {
		if line = OneLine(line); strings.ContainsFunc(line, unicode.IsLetter) { // skip rules and fences
			head = append(head, line)
		}
	}
	return Clip(strings.Join(head, " · "), headBytes)
}

// HeadAt returns the Head for the text at a byte offset of Text. It is empty at the beginning of the document, and
// where that beginning is unknown.
func (s Source) HeadAt(at int) string {
	if s.Head == "" && s.Offset == 0 && at > 0 {
		return HeadOf(s.Text)
	}
	return s.Head
}

// Label describes a source by its known genre, authors, publisher and date: "news, Coast Times, 2024-03-18".
func (s Source) Label() string {
	known := []string{s.Genre, s.By(), s.Date}
	return strings.Join(slices.DeleteFunc(known, func(k string) bool { return k == "" || k == GenreUnknown }), ", ")
}

// Name returns the title of a document or page with a distinguishing part: "Changelog, queue/CHANGES.md".
func (s Source) Name() string {
	parts := []string{OneLine(s.Title), cmp.Or(s.URL, s.key())}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

// key returns the document key; empty for a file of the bundle, whose key means nothing to a reader.
func (s Source) key() string {
	if s.Stored() {
		return ""
	}
	return s.Document
}

// Place returns the location of a source: "handbook.html › 3.2 Memory › Locks, p. 15". It begins with the document
// key, else the URL, else the title. It is empty for a source without any of these.
func (s Source) Place() string {
	place := cmp.Or(s.key(), s.URL, OneLine(s.Title))
	if path := s.sectionPath(); path != "" {
		place = strings.TrimPrefix(place+" › "+path, " › ")
	}
	return s.withPage(place)
}

// Within returns the location of a source within its document: "3.2 Memory › Locks, p. 15".
func (s Source) Within() string { return s.withPage(s.sectionPath()) }

func (s Source) withPage(place string) string {
	if s.Page == 0 {
		return place
	}
	return strings.TrimPrefix(place+", p. "+strconv.Itoa(s.Page), ", ")
}

// sectionPath joins the headings above a source, without the document's own title and repeated headings.
func (s Source) sectionPath() string {
	var path []string
	for _, heading := range s.Section {
		path = append(path, OneLine(heading))
	}
	path = slices.Compact(slices.DeleteFunc(path, func(h string) bool { return h == "" }))
	if len(path) > 0 && path[0] == OneLine(s.Title) {
		path = path[1:]
	}
	return strings.Join(path, " › ")
}

// Stored reports whether the source's document is the tool call's own answer, as stored in the bundle.
func (s Source) Stored() bool {
	return s.Kind == SourceCode || s.Kind == SourceTool && s.URL == ""
}

// SourceID returns the id of a source: "src_" and 16 hex digits, derived from kind, location and text hash. The same
// passage found by two calls has the same id.
func SourceID(s Source) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%d\x00%d\x00%s", s.Kind, s.URL, s.Document, s.Page,
		s.Offset, s.Hash))
	return "src_" + hex.EncodeToString(sum[:8])
}

// TextHash returns the lower-case hex SHA-256 of text: Source.Hash, and the name of the text below pages/ in a bundle.
func TextHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// PagePath returns the path of a text within its bundle, given the text's hash.
func PagePath(hash string) string { return "pages/" + hash + ".txt" }

// PageHash returns the hash in a PagePath.
func PageHash(path string) string {
	return strings.TrimSuffix(strings.TrimPrefix(path, "pages/"), ".txt")
}

// Claim is one checkable statement with the words of the source that support it.
type Claim struct {
	ID         string `json:"claim_id"`    // citation id and ordinal: CIT-3-02.1
	CitationID string `json:"citation_id"` // citation id of its trace
	SourceID   string `json:"source_id"`
	Text       string `json:"text"`  // the statement; Quote on one line if no model wrote it
	Quote      string `json:"quote"` // verbatim: Source.Text[Start:End]
	Start      int    `json:"start"` // byte offset in Source.Text
	End        int    `json:"end"`
	// for a claim that no model chose: Source.Share, or the share of its passage in a page that was read in full
	Share float64 `json:"share,omitempty"`
	// block that the claim is about, if it was found while another one was researched; empty: the block of its trace
	Block string `json:"block,omitempty"`
	// for a table row that is reported as changed: the row with the column names
	Columns string `json:"columns,omitempty"`
	// for a withdrawn claim: the sentence that replaced it; nil: none
	Now *Claim `json:"now,omitempty"`
}

// ToolTrace is one source that one tool call returned, with its compressed note and its claims. Several traces of one
// call share ToolID.
type ToolTrace struct {
	ToolID                string    `json:"tool_id"` // block_3/2.1: block, iteration, ordinal of the action
	CitationID            string    `json:"citation_id"`
	ToolType              string    `json:"tool_type"` // tool name
	Query                 string    `json:"query"`
	RawAnswer             string    `json:"raw_answer"` // pages/<sha256>.txt: the complete answer of the call
	Summary               string    `json:"summary"`    // 200 to 500 words if a model wrote it
	Timestamp             time.Time `json:"timestamp"`
	RawAnswerTruncated    bool      `json:"raw_answer_truncated"`
	RawAnswerOriginalSize int       `json:"raw_answer_original_size"` // bytes
	BlockID               string    `json:"block_id,omitempty"`       // empty for planning
	Iteration             int       `json:"iteration"`
	Source                Source    `json:"source"`
	Claims                []Claim   `json:"claims"`
	// beginnings of text in the source that gives orders to assistants, verbatim; a trace with Orders may have no Claims
	Orders []string `json:"orders,omitempty"`

	// For a run that updates an earlier one: Since is the day since when this is known, YYYY-MM-DD; empty: since this
	// run. Withdrawn holds what the source said then and no longer says; it is cited as of that day. A trace with
	// Withdrawn has no Claims.
	Since     string  `json:"since,omitempty"`
	Withdrawn []Claim `json:"withdrawn,omitempty"`
	Added     []Claim `json:"added,omitempty"` // new sentences of the source since then, besides the claims
	// number of claims of the previous run that were left out because their paragraph has changed; text that cites
	// them is rewritten
	Dropped int `json:"dropped,omitempty"`
	// the source was read again and its text has changed; the remaining claims quote the new text
	Reread bool `json:"reread,omitempty"`
	// the source could not be read again, so its earlier text is assumed to hold
	Unchecked bool `json:"unchecked,omitempty"`
}

// PlanCitationID returns PLAN-01 for the first trace of planning.
func PlanCitationID(seq int) string { return fmt.Sprintf("PLAN-%02d", seq) }

// BlockCitationID returns CIT-3-02 for the second trace of block 3.
func BlockCitationID(block, seq int) string { return fmt.Sprintf("CIT-%d-%02d", block, seq) }
