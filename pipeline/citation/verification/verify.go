package verification

import (
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
)

// What Result.Status and Reason say.
const (
	StatusVerified   = "verified"
	StatusUnverified = "unverified"

	ReasonValid    = "valid_citations"
	ReasonNoSource = "no_sources"          // the registry is empty
	ReasonNoValid  = "no_valid_citations"  // nothing that the text cites is in the registry
	ReasonPanicked = "verification_failed" // a defect of the verifier; the text is as it came
)

// Why an entry of the references was removed, besides ReasonUnknownKey and ReasonUnknownURL.
const (
	ReasonUnverifiable = "unverifiable"           // it names nothing that could be looked up; Detail may say why
	ReasonDuplicate    = "duplicate_of_citation_" // followed by the number, or id, of the one that stays
)

// Valid is an entry of the references that leads to a source. Number is the one of the text as it came: a report is
// numbered anew without gaps, see ReportNumber.
type Valid struct {
	Number       int     `json:"number"`       // an entry without a number has that of its place
	ID           string  `json:"id,omitempty"` // citation id, of a report that cites by ids
	URL          *string `json:"url"`          // the source's own spelling; nil: it has none
	CitationKey  *string `json:"citation_key"`
	Line         string  `json:"line"`                  // the entry as it came
	LineNumber   int     `json:"line_number,omitempty"` // of the text as it came, from 1; 0: it had no entry
	Match        string  `json:"match"`                 // one of the Match... constants
	ReportNumber int     `json:"report_number,omitempty"`

	Source int `json:"-"` // position in Registry.Sources
}

// Removed is an entry of the references that was taken out with its markers.
type Removed struct {
	Number     int    `json:"number"`
	ID         string `json:"id,omitempty"`
	Line       string `json:"line"`
	LineNumber int    `json:"line_number,omitempty"`
	Reason     string `json:"reason"`
	Detail     string `json:"detail,omitempty"`
}

// Result is a text of which every citation leads to a source, and what was done to make it so.
type Result struct {
	Report           string     `json:"report"`
	Valid            []Valid    `json:"valid_citations"`
	Removed          []Removed  `json:"removed_citations"`
	BodyURLsRemoved  int        `json:"body_urls_removed"`  // links and addresses outside the references
	BodyURLsReplaced int        `json:"body_urls_replaced"` // by the marker of the source that they lead to
	UnsafeURLs       []string   `json:"unsafe_urls"`        // other schemes than http, IP addresses
	Sentences        []Sentence `json:"-"`                  // of Report, those with citations
	Status           string     `json:"status"`
	Reason           string     `json:"reason"`
}

// Verify checks every citation of a Markdown text against the registry. Lists of references and markers are understood
// in the forms that people and models write; entries that lead to no source are removed with their markers, others get
// the source's own address and are numbered anew without gaps. Addresses outside the references go (those of a source
// become its marker), and what is unsafe to follow, and leaked tool calls. Everything else stays, byte for byte; code
// is left alone. listed: numbers of a text without references are places in the registry's sources, from 1, and it
// gets the list; otherwise nobody knows what they mean, and such a text stays as it is.
// Verifying the result again changes nothing. Never fails; time is linear in the length of the text.
func Verify(r *citation.Registry, report string, listed bool) Result {
	if r.Len() == 0 {
		return Result{Report: report, Valid: []Valid{}, Removed: []Removed{}, UnsafeURLs: []string{},
			Status: StatusUnverified, Reason: ReasonNoSource}
	}
	text := strings.ToValidUTF8(lineBreaks.Replace(report), "\uFFFD")
	var first, v *verifier
	for pass := range maxPasses {
		v = verifyOnce(r, text, listed, pass)
		if first == nil {
			first = v
		} else {
			first.merge(v)
		}
		if v.result == text {
			break
		}
		text = v.result
	}
	out := first.verification
	out.Report = text
	out.Status, out.Reason = StatusVerified, ReasonValid
	if len(out.Valid) == 0 {
		out.Status, out.Reason = StatusUnverified, ReasonNoValid
	}
	out.Sentences = v.reading.changed(text).sentences(out.Valid)
	return out
}

// maxPasses bounds how often a text is read: what is removed may join its neighbours to something new. Two for real
// text.
const maxPasses = 16

// verifier is one pass over a text.
type verifier struct {
	*citation.Registry
	*reading
	entries  []*entry
	byNumber meanings
	top      int // the last number given to an entry
	byID     map[string]*entry
	bySource map[string]*entry // by placeOf: the entry that cites a source
	last     *entry            // of the last list with numbers; nil without one
	added    []*entry          // for sources that only the text outside the references links to

	result       string
	verification Result
}

// pass: how many were made before; text is the result of the last of them.
func verifyOnce(r *citation.Registry, text string, listed bool, pass int) *verifier {
	original := unhide(text)
	read := newReading(r, cutToolMarkup(original)).numberNotes().splitEntries().plainMarkers(listed)
	if listed && pass == 0 {
		read = read.list()
	}
	v := &verifier{Registry: r, reading: read, byNumber: meanings{}, byID: map[string]*entry{},
		bySource: map[string]*entry{}}
	v.verification = Result{Valid: []Valid{}, Removed: []Removed{}, UnsafeURLs: []string{}}
	for _, s := range v.lists {
		v.entries = append(v.entries, s.entries...)
		if s.entries[0].id == "" {
			v.last = s.last()
		}
	}
	slices.SortFunc(v.entries, func(a, b *entry) int { return a.start - b.start }) // footnotes stand anywhere
	v.countBare()
	for _, e := range v.entries {
		v.judgeEntry(e)
	}
	v.findDuplicates()
	v.number()
	judged := v.verification
	if v.result = v.rewrite(); len(v.added) > 0 { // there is a list now, which the markers before the links mean
		v.verification = judged
		v.result = v.rewrite()
	}
	if pass == 0 {
		v.findLines(original)
	}
	v.record()
	return v
}

// countBare gives entries without numbers those of their places, which the markers of such a text mean.
func (v *verifier) countBare() {
	if slices.ContainsFunc(v.entries, func(e *entry) bool { return e.number >= 0 || e.id != "" }) {
		return
	}
	for i, e := range v.entries {
		e.number, e.bare = i+1, true
	}
}

var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Guarded runs a verification of report. When it panics, which is a defect of the verifier, the report is as it came,
// unverified, and the error says what happened.
func Guarded(report string, verify func() Result) (v Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("verify the report: %v", p)
			v = Result{Report: report, Valid: []Valid{}, Removed: []Removed{}, UnsafeURLs: []string{},
				Status: StatusUnverified, Reason: ReasonPanicked}
		}
	}()
	return verify(), nil
}
