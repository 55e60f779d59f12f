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
	SourceTool     = "tool" // what a tool of the operator's own returned
)

// Genres of sources: what a reader would call the thing that was found. A source of which nothing tells has
// GenreUnknown.
const (
	GenrePaper         = "paper"    // reviewed, or presented as such
	GenrePreprint      = "preprint" // paper on a server that takes it without review
	GenreDocumentation = "documentation"
	GenreReference     = "reference" // encyclopedia, dictionary, standard
	GenreNews          = "news"
	GenreForum         = "forum" // questions, answers, threads
	GenreBlog          = "blog"
	GenreGovernment    = "government"
	GenreOrganisation  = "organisation" // universities, associations, international bodies
	GenreRepository    = "repository"   // of code or packages
	GenreDataset       = "dataset"
	GenreVideo         = "video"
	GenreSocial        = "social"
	GenreShop          = "shop"
	GenreUnknown       = "unknown"
)

// Source is one thing that a tool returned: a document passage, a page, a paper, a program's output.
// What a citation points to is always one source.
type Source struct {
	ID    string `json:"source_id"`       // SourceID of its place and text
	Kind  string `json:"kind"`            // one of the Source... constants
	Genre string `json:"genre,omitempty"` // one of the Genre... constants
	// registrable: example.co.uk of www.example.co.uk; empty without URL
	Domain   string   `json:"domain,omitempty"`
	Title    string   `json:"title"`              // of the document, page or paper
	URL      string   `json:"url,omitempty"`      // absolute; empty for a passage of a local file
	Document string   `json:"document,omitempty"` // document key: slash-separated path within the knowledge base
	Section  []string `json:"section,omitempty"`  // headings from the top down to the passage
	Anchor   string   `json:"anchor,omitempty"`   // fragment that leads to the section, without #
	Page     int      `json:"page,omitempty"`     // counted from 1; 0 = no pages
	Offset   int      `json:"offset"`             // byte at which Text begins in the document's extracted text
	Hash     string   `json:"sha256"`             // lower-case hex SHA-256 of Text
	// YYYY-MM-DD, YYYY-MM or YYYY, as the source states it: published, else last changed; empty = unknown
	Date string `json:"date,omitempty"`
	// organisation, site, journal or conference, as it calls itself; empty = unknown
	Publisher string `json:"publisher,omitempty"`
	// Head is HeadOf the document that Text is a part of: it often says who wrote it, and when. Empty: there is none,
	// or Text begins with it.
	Head string `json:"head,omitempty"`
	// as the source names them; at most 10, of a paper with "et al." for the others
	Authors     []string  `json:"authors,omitempty"`
	DOI         string    `json:"doi,omitempty"`         // of a paper, lower case, without a resolver's address
	File        string    `json:"file,omitempty"`        // of a document: its absolute path where it was indexed
	Figures     []Figure  `json:"figures,omitempty"`     // that a program drew beside its output, or of a page
	RetrievedAt time.Time `json:"retrieved_at,omitzero"` // UTC
	Text        string    `json:"-"`                     // UTF-8; kept in storage under Hash, not in Redis
	// its score in the search that returned it against that of the best, 0 to 1; 0: none
	Share float64 `json:"share,omitempty"`

	// Of a page: how its server calls this version of it. Empty: it does not.
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`

	AsOf *AsOf `json:"as_of,omitempty"` // it is what an earlier run has read; nil: this one
}

// AsOf says when a source was what a report says of it.
type AsOf struct {
	RunID string `json:"run_id"`         // whose bundle has the text
	Date  string `json:"date"`           // of that run, YYYY-MM-DD, with the time where the report is of the same day
	Gone  bool   `json:"gone,omitempty"` // the page is no longer there; else it no longer says all of it
}

// Figure is a picture that belongs to a source.
type Figure struct {
	Path string `json:"path"` // figures/<sha256>.svg or .png in the run's bundle
	// what it shows, one line, for its caption: as the program called it, or what the page says, with site and licence
	Title string `json:"title"`

	// Of a picture of a page:
	URL     string `json:"url,omitempty"`     // where it was fetched
	Licence string `json:"licence,omitempty"` // as the page states it; empty: it does not
	// the section that it stands in, bytes of Source.Text; End = 0: it belongs to all of it
	Start int `json:"start,omitempty"`
	End   int `json:"end,omitempty"`
}

// BesideClaim reports whether the figure belongs to this claim of its source.
func (f Figure) BesideClaim(c Claim) bool { return f.End == 0 || f.Start <= c.Start && c.End <= f.End }

// Limits of By.
const (
	mostNamed   = 3  // authors
	maxIssuer   = 60 // bytes of a publisher: some sites put a slogan there
	maxNamed    = 60 // of an author
	othersNamed = "et al."
)

// By names who wrote and who published a source, as far as that is known: "M. Lind, T. Oye, Harbour Authority".
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

// Limits of Source.Head, in bytes.
const (
	headBytes = 240
	headLine  = 120 // a line that is longer is a paragraph
)

// HeadOf returns what stands at the beginning of a text before its first sentence, on one line: the short lines in
// which documents say what they are, whose, and of when.
func HeadOf(text string) string {
	var head []string
	for line := range strings.Lines(strings.ToValidUTF8(text[:min(len(text), 4*headBytes)], "")) {
		line = OneLine(line)
		if len(line) > headLine || strings.HasSuffix(strings.TrimRight(line, `"'”’」)*_`), ".") ||
			strings.ContainsAny(line, "。！？") {
			break
		}
		if strings.ContainsFunc(line, unicode.IsLetter) { // no rule, no fence
			head = append(head, line)
		}
	}
	return Clip(strings.Join(head, " · "), headBytes)
}

// HeadAt returns the Head for what stands at a byte of Text; empty where that is the beginning itself, and where the
// beginning of the document is not known.
func (s Source) HeadAt(at int) string {
	if s.Head == "" && s.Offset == 0 && at > 0 {
		return HeadOf(s.Text)
	}
	return s.Head
}

// Label says in a few words what kind of source it is, whose, and of when, as far as that is known: "news, Coast Times,
// 2024-03-18".
func (s Source) Label() string {
	known := []string{s.Genre, s.By(), s.Date}
	return strings.Join(slices.DeleteFunc(known, func(k string) bool { return k == "" || k == GenreUnknown }), ", ")
}

// Name is what a document or page is called, told apart from others of its title: "Changelog, queue/CHANGES.md".
func (s Source) Name() string {
	parts := []string{OneLine(s.Title), cmp.Or(s.URL, s.key())}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

// key is that of the document; of a file of the bundle it tells nothing.
func (s Source) key() string {
	if s.Stored() {
		return ""
	}
	return s.Document
}

// Place says where a source stands: "handbook.html › 3.2 Memory › Locks, p. 15". It begins with the document key, else
// the URL, else the title; a source of which nothing is known has the place "".
func (s Source) Place() string {
	place := cmp.Or(s.key(), s.URL, OneLine(s.Title))
	if path := s.sectionPath(); path != "" {
		place = strings.TrimPrefix(place+" › "+path, " › ")
	}
	return s.withPage(place)
}

// Within says where in its document a source stands: "3.2 Memory › Locks, p. 15".
func (s Source) Within() string { return s.withPage(s.sectionPath()) }

func (s Source) withPage(place string) string {
	if s.Page == 0 {
		return place
	}
	return strings.TrimPrefix(place+", p. "+strconv.Itoa(s.Page), ", ")
}

// sectionPath joins the headings above a source, without the document's own title and doubled ones: they say nothing
// new.
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

// Stored reports whether the source's document is the answer of the call that returned it, as the bundle has it.
func (s Source) Stored() bool {
	return s.Kind == SourceCode || s.Kind == SourceTool && s.URL == ""
}

// SourceID returns the id of a source from what identifies it: kind, place and the hash of its text.
// The same passage found by two calls has one id. The result is "src_" and 16 hex digits.
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

// PagePath returns how the files of a bundle name one of its texts, by its hash.
func PagePath(hash string) string { return "pages/" + hash + ".txt" }

// PageHash returns the hash that a PagePath names.
func PageHash(path string) string {
	return strings.TrimSuffix(strings.TrimPrefix(path, "pages/"), ".txt")
}

// Claim is one checkable statement with the words of the source that carry it.
type Claim struct {
	ID         string `json:"claim_id"`    // citation id and ordinal: CIT-3-02.1
	CitationID string `json:"citation_id"` // of the trace that it belongs to
	SourceID   string `json:"source_id"`
	Text       string `json:"text"`  // the statement; Quote on one line when no model wrote it
	Quote      string `json:"quote"` // verbatim: Source.Text[Start:End]
	Start      int    `json:"start"` // bytes into Source.Text
	End        int    `json:"end"`
	// of a claim that no model chose: Source.Share, or that of its passage in a page that was read whole
	Share float64 `json:"share,omitempty"`
	// of a row of a table that is told as changed: the row that names its columns
	Columns string `json:"columns,omitempty"`
	// of a withdrawn one: the sentence that has come in its place; nil: none has
	Now *Claim `json:"now,omitempty"`
}

// ToolTrace is one source that one tool call returned, with its compressed note and its claims.
// Several traces of one call share ToolID.
type ToolTrace struct {
	ToolID                string    `json:"tool_id"` // block_3/2.1: block, iteration, ordinal of the action
	CitationID            string    `json:"citation_id"`
	ToolType              string    `json:"tool_type"` // tool name
	Query                 string    `json:"query"`
	RawAnswer             string    `json:"raw_answer"` // pages/<sha256>.txt: the whole answer of the call
	Summary               string    `json:"summary"`    // 200 to 500 words when a model wrote it
	Timestamp             time.Time `json:"timestamp"`
	RawAnswerTruncated    bool      `json:"raw_answer_truncated"`
	RawAnswerOriginalSize int       `json:"raw_answer_original_size"` // bytes
	BlockID               string    `json:"block_id,omitempty"`       // empty for planning
	Iteration             int       `json:"iteration"`
	Source                Source    `json:"source"`
	Claims                []Claim   `json:"claims"`

	// Of a run that goes on from an earlier one: since when this is known, YYYY-MM-DD, empty: since this run; and
	// what the source said then and does not say any more, for which it is cited as of that day. A trace with
	// Withdrawn has no Claims.
	Since     string  `json:"since,omitempty"`
	Withdrawn []Claim `json:"withdrawn,omitempty"`
	Added     []Claim `json:"added,omitempty"` // sentences of the source that are news since then, besides the claims
	// Dropped is how many claims of the run before were left out, because their paragraph says something else now. What
	// cites them is written anew.
	Dropped int `json:"dropped,omitempty"`
	// Its source has been read again and is another text: the claims that stand are quoted from that.
	Reread bool `json:"reread,omitempty"`
	// Its source could not be asked again: what it said is taken to hold.
	Unchecked bool `json:"unchecked,omitempty"`
}

// PlanCitationID returns PLAN-01 for the first trace of planning.
func PlanCitationID(seq int) string { return fmt.Sprintf("PLAN-%02d", seq) }

// BlockCitationID returns CIT-3-02 for the second trace of block 3.
func BlockCitationID(block, seq int) string { return fmt.Sprintf("CIT-%d-%02d", block, seq) }
