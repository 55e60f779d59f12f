// Package bibliography exports the sources of a report for reference managers: as BibTeX, RIS and CSL-JSON. All source
// data is untrusted. It is escaped, so that no value can end a field or start another entry.
//
// Entry point: Make.
package bibliography

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// Names of the formats, as values of --format. They are also file extensions, except for CSL, which is JSON.
const (
	BibTeX = "bib"
	RIS    = "ris"
	CSL    = "csl"
)

// Names returns all formats. The caller owns the slice.
func Names() []string { return []string{BibTeX, RIS, CSL} }

// File returns the name of the exported file of a run.
func File(runID, format string) string {
	if format == CSL {
		format = "csl.json"
	}
	return runID + "." + format
}

// Make exports sources in a format. Passages of one document become one entry. Outputs of programs and tools are
// omitted, because readers cannot look them up. Equal sources give equal bytes. The error reports an unknown format.
func Make(format string, sources []topicqueue.Source) ([]byte, error) {
	entries := entriesOf(sources)
	switch format {
	case BibTeX:
		return bibTeX(entries), nil
	case RIS:
		return ris(entries), nil
	case CSL:
		return csl(entries)
	}
	return nil, fmt.Errorf("unknown bibliography format %q", format)
}

// entry is one document.
type entry struct {
	id, title, publisher, doi, url, note string
	authors                              []person
	others                               bool // whether the author list is incomplete ("et al.")
	date                                 []int
	read                                 time.Time
	kind                                 string
}

// person is an author. If given is empty, family is the whole name: that of an organisation, or one that cannot be
// split.
type person struct{ family, given string }

func entriesOf(sources []topicqueue.Source) (out []entry) {
	known := map[string]bool{}
	for _, s := range sources {
		if s.Kind == topicqueue.SourceCode || s.Kind == topicqueue.SourceTool {
			continue
		}
		address, _, _ := strings.Cut(s.URL, "#")
		key := address
		switch {
		case s.DOI != "":
			key = "doi:" + strings.ToLower(s.DOI)
		case address == "":
			key = "document:" + s.Document
		}
		if known[key] {
			continue
		}
		known[key] = true
		e := entry{id: s.ID, title: text.Line(s.Title), publisher: text.Line(s.Publisher), doi: text.Line(s.DOI),
			date: dateOf(s.Date), read: s.RetrievedAt, kind: s.Kind}
		if strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") {
			e.url = text.Line(address)
		}
		if s.Document != "" && e.url == "" {
			e.note = text.Line(s.Document)
		}
		if e.title == "" {
			e.title = cmp.Or(e.note, e.url)
		}
		e.authors, e.others = people(s.Authors, s.Kind == topicqueue.SourcePaper)
		out = append(out, e)
	}
	return out
}

// people parses author names. Only papers list persons one by one. An author of a page or a document may be an
// organisation, so its name is not split.
func people(names []string, persons bool) (out []person, others bool) {
	for _, name := range names {
		name = text.Line(name)
		words := strings.Fields(name)
		switch {
		case name == "":
		case name == "et al.":
			others = true
		case !persons || len(words) < 2:
			out = append(out, person{family: name})
		case strings.Count(name, ",") == 1:
			family, given, _ := strings.Cut(name, ",")
			out = append(out, person{strings.TrimSpace(family), strings.TrimSpace(given)})
		case strings.HasSuffix(name, ".") || strings.Contains(name, ","): // a suffix such as Jr., or an initial
			out = append(out, person{family: name})
		default:
			// As in BibTeX, a family name starts with the first word in lower case ("van der Berg").
			at := slices.IndexFunc(words[1:], func(w string) bool { return strings.ToUpper(w[:1]) != w[:1] }) + 1
			if at == 0 || at == len(words)-1 {
				at = len(words) - 1
			}
			out = append(out, person{strings.Join(words[at:], " "), strings.Join(words[:at], " ")})
		}
	}
	return out, others
}

// dateOf returns the year, month and day of a date, as far as they are given.
func dateOf(date string) []int {
	for i, layout := range []string{"2006", "2006-01", "2006-01-02"} {
		if t, err := time.Parse(layout, date); err == nil {
			return []int{t.Year(), int(t.Month()), t.Day()}[:i+1]
		}
	}
	return nil
}

func (e entry) paper() bool { return e.kind == topicqueue.SourcePaper }
