// Package verification checks every citation of a Markdown report of another program against a registry: entries of the
// references, markers, footnotes and links. Entries that lead to no source are removed with their markers, and the
// report is written anew from what is left. Entry point: Verify.
package verification

import (
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/report"
)

// What Result.Status and Reason say.
const (
	StatusVerified   = "verified"
	StatusUnverified = "unverified"

	ReasonValid    = "valid_citations"
	ReasonNoSource = "no_sources"         // the registry is empty
	ReasonNoValid  = "no_valid_citations" // nothing that the text cites is in the registry
)

// Why an entry of the references was removed, besides ReasonUnknownKey and ReasonUnknownURL.
const (
	ReasonUnverifiable = "unverifiable"           // it names nothing that could be looked up; Detail may say why
	ReasonDuplicate    = "duplicate_of_citation_" // followed by the number, or id, of the one that stays
)

// Valid is a citation that leads to a source: an entry of the references, or a link in the text.
type Valid struct {
	Number       int     `json:"number"`       // as the text came; an entry without a number has that of its place
	ID           string  `json:"id,omitempty"` // citation id, of a report that cites by ids
	URL          *string `json:"url"`          // the source's own spelling; nil: it has none
	CitationKey  *string `json:"citation_key"`
	Line         string  `json:"line"`                  // the entry as it came; empty: a link
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
	BodyURLsReplaced int        `json:"body_urls_replaced"` // by the source's own address
	UnsafeURLs       []string   `json:"unsafe_urls"`        // other schemes than http, IP addresses
	Sentences        []Sentence `json:"-"`                  // those with citations
	Status           string     `json:"status"`
	Reason           string     `json:"reason"`
}

// Sentence is one sentence of a verified report, or row of a table, with what it cites.
type Sentence struct {
	Text      string // without markers; white space folded; cells of a row are parted by " | "
	Head      string // of a row: the cells of the table's head, as in Text
	Citations []int  // numbers of Valid, in order, each once
	Sources   []int  // positions in Registry.Sources, in order, each once
}

// Verify checks every citation of a Markdown text against the registry: it reads the entries of the references, judges
// them, makes a tree of the rest with the entries that it cites, and renders both. Entries that lead to no source are
// removed with their markers, others get the source's own address and are numbered anew without gaps, and so do links
// and addresses in the text; what is unsafe to follow goes. No words are lost; code is left alone. listed: numbers of a
// text without references are places in the registry's sources, from 1, and it gets the list; otherwise nobody knows
// what they mean, and they stay. Verifying the result again changes nothing. Never fails; time is linear in the length
// of the text.
func Verify(r *citation.Registry, source string, listed bool) Result {
	if r.Len() == 0 {
		return Result{Report: source, Valid: []Valid{}, Removed: []Removed{}, UnsafeURLs: []string{},
			Status: StatusUnverified, Reason: ReasonNoSource}
	}
	out := verifyOnce(r, source, listed)
	for range 16 { // what is removed may join its neighbours to something new; real text needs one
		again := verifyOnce(r, out.Report, false)
		if again.Report == out.Report {
			break
		}
		if len(again.Valid) == len(out.Valid) { // only markers were read that others had hidden
			again.Valid = out.Valid
		}
		again.Removed = append(out.Removed, again.Removed...)
		again.UnsafeURLs = append(out.UnsafeURLs, again.UnsafeURLs...)
		again.BodyURLsRemoved += out.BodyURLsRemoved
		again.BodyURLsReplaced += out.BodyURLsReplaced
		out = again
	}
	out.Status, out.Reason = StatusVerified, ReasonValid
	if len(out.Valid) == 0 {
		out.Status, out.Reason = StatusUnverified, ReasonNoValid
	}
	return out
}

// verifier is one pass over a text.
type verifier struct {
	*citation.Registry
	*citation.Text
	pieces   []*entry
	heads    []*entry // headings of lists of references
	lists    int
	ending   []int // of each list: where it ends
	entries  []*entry
	byNumber map[int][]*entry
	byID     map[string]*entry // also by the name of a footnote, as ^name
	bySource map[string]*entry // by place: the entry that cites a source
	kept     []*entry          // those that stay, in the order of the references
	top      int               // the last number given to an entry
	added    []*entry          // for sources that only the text outside the references links to

	out Result
}

func verifyOnce(r *citation.Registry, source string, listed bool) Result {
	v := &verifier{Registry: r, byNumber: map[int][]*entry{}, byID: map[string]*entry{}, bySource: map[string]*entry{},
		out: Result{Valid: []Valid{}, Removed: []Removed{}, UnsafeURLs: []string{}}}
	v.Text = r.Scan(citation.Normalize(source))
	v.readReferences()
	if listed && len(v.entries) == 0 {
		if list := v.list(); list != "" {
			return verifyOnce(r, strings.TrimRight(v.Markdown, " \t\n")+"\n\n## Sources\n"+list, false)
		}
	}
	bare := !slices.ContainsFunc(v.entries, func(e *entry) bool { return e.number >= 0 || e.id != "" || e.name != "" })
	v.ending = make([]int, v.lists+1)
	for i, e := range v.entries {
		if bare {
			e.number = i + 1
		}
		v.judgeEntry(e)
		v.ending[e.list] = e.end
		switch {
		case e.id != "":
			v.byID[e.id] = e
		case e.name != "":
			v.byID["^"+e.name] = e
		default:
			v.byNumber[e.number] = append(v.byNumber[e.number], e)
		}
	}
	v.number()
	blocks := v.tree()
	v.record()
	v.out.Report, v.out.Sentences = v.render(blocks), v.sentences(blocks)
	return v.out
}

// list returns the references that a text without them means when its numbers are places in the registry's sources.
func (v *verifier) list() string {
	var cited []int
	for _, k := range v.Tokens {
		for _, n := range k.Numbers {
			if k.Kind == citation.KindMarker && n >= 1 && n <= v.Len() && v.IsCitation(k, true, -1) {
				cited = append(cited, n)
			}
		}
	}
	slices.Sort(cited)
	var b strings.Builder
	for _, n := range slices.Compact(cited) {
		s := v.At(n - 1)
		target := s.Key
		if s.URL != "" {
			target = citation.SafeSpelling(s.URL)
		}
		fmt.Fprintf(&b, "[%d] %s\n", n, strings.TrimPrefix(report.Escape(s.Title)+": "+target, ": "))
	}
	return b.String()
}

// record lists what was found, in the order of the text.
func (v *verifier) record() {
	out, line, pos := &v.out, 1, 0
	for i, e := range append(v.entries, v.added...) {
		number, written := e.number, ""
		if number == noNumber {
			number = i + 1
		}
		at := 0
		if e.end > 0 {
			line, pos = line+strings.Count(v.Markdown[pos:e.start], "\n"), e.start
			at, written = line, strings.TrimSpace(v.Markdown[e.start:e.end])
		}
		if !e.stays() {
			out.Removed = append(out.Removed, Removed{Number: number, ID: e.id, Line: written, LineNumber: at,
				Reason: e.reason, Detail: e.detail})
			continue
		}
		s := v.At(e.source)
		c := Valid{Number: number, ID: e.id, Line: written, LineNumber: at, Match: e.level, ReportNumber: e.final,
			Source: e.source}
		if s.URL != "" {
			c.URL = &s.URL
		}
		if s.Key != "" {
			c.CitationKey = &s.Key
		}
		out.Valid = append(out.Valid, c)
	}
}
