package citation

import (
	"cmp"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/citation/address"
	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// Options says how citations are shown.
type Options struct {
	Style string // topicqueue.CitationAnchors or CitationNumbered; empty means anchors
	// where the run's data lie as seen from the text, "../cache/<run>/"; "" links nothing in there
	Bundle string
	Genres map[string]string // names of genres; one that is missing is shown as it is
	// AsOf says of which day an earlier text of a source is, and that there is none any more; nil: "as of 2026-03-01".
	AsOf func(topicqueue.AsOf) string
}

// genre returns the name of a kind of source in Markdown, and "" when the kind is unknown.
func (o Options) genre(genre string) string {
	if genre == topicqueue.GenreUnknown {
		return ""
	}
	return markdown.EscapeInline(cmp.Or(o.Genres[genre], genre), 0)
}

// References lists the references of cited ids, which are in order of appearance: in numbered style an entry for each
// place, else the cited places of each document, by id. Unknown ids have none.
func (r *Registry) References(cited []string, o Options) []report.Reference {
	cited = slices.DeleteFunc(slices.Clone(cited), func(id string) bool { _, known := r.traces[id]; return !known })
	if o.Style == topicqueue.CitationNumbered {
		return r.numberedReferences(cited, o)
	}
	slices.SortFunc(cited, Compare)
	return r.groupedReferences(cited, o)
}

// groupedReferences lists the documents, each with an entry for every cited place in it.
func (r *Registry) groupedReferences(ids []string, o Options) (list []report.Reference) {
	at := map[string]int{}       // by document
	current := map[string]bool{} // the first line tells of the document as it is now
	for _, key := range ids {
		s := r.traces[key].Source
		document := documentKey(s)
		i, known := at[document]
		if !known {
			i = len(list)
			at[document], list = i, append(list, report.Reference{})
		}
		ref := &list[i]
		if ref.About == "" || s.AsOf == nil && !current[document] {
			ref.About, current[document] = aboutDocument(s, o), s.AsOf == nil
		}
		ref.Entries = append(ref.Entries, report.Entry{IDs: []string{key}, Label: key, Text: placeInDocument(s, o)})
	}
	return list
}

// documentKey identifies a document.
func documentKey(s topicqueue.Source) string {
	return cmp.Or(address.Normalize(strings.SplitN(s.URL, "#", 2)[0]), s.Document, s.Kind+"\x00"+s.ID)
}

// aboutDocument says in one line what a document is: title, authors and publisher, kind, date, and its key when it
// is a file.
func aboutDocument(s topicqueue.Source, o Options) string {
	title := cmp.Or(text.Line(s.Title), s.URL, s.Document)
	key := ""
	if s.URL == "" && s.Document != title && !s.Stored() {
		key = markdown.CodeSpan(s.Document)
	}
	date := markdown.EscapeInline(text.Line(s.Date), 0)
	return dotted("**"+markdown.Escape(title)+"**", byline(s, title), o.genre(s.Genre), date, key)
}

// dotted joins what is known.
func dotted(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " · ")
}

// byline returns who wrote and published a source, without a publisher that the title names; "" when nobody is known.
func byline(s topicqueue.Source, title string) string {
	if strings.Contains(strings.ToLower(title), strings.ToLower(text.Line(s.Publisher))) {
		s.Publisher = ""
	}
	return markdown.Escape(s.By())
}

// placeInDocument links the place of a source: its address, else its text in the run's data.
func placeInDocument(s topicqueue.Source, o Options) string {
	place := s.Within()
	address, linked := webAddress(s)
	switch {
	case linked:
		place = cmp.Or(place, text.Clip(shortAddress(address), maxAddressRunes))
	case s.Stored() && o.Bundle != "" && pageName.MatchString(s.Document):
		address, linked, place = o.Bundle+s.Document, true, cmp.Or(place, s.Document)
	case o.Bundle != "" && pageName.MatchString(topicqueue.PagePath(s.Hash)) && s.AsOf == nil:
		address, linked, place = o.Bundle+topicqueue.PagePath(s.Hash), true, cmp.Or(place, s.Document)
	}
	if place = markdown.Escape(place); linked {
		place = "[" + place + "](" + address + ")"
	}
	if s.AsOf != nil {
		return dotted(place, o.asOf(s))
	}
	return place
}

// maxAddressRunes bounds an address that is shown.
const maxAddressRunes = 80

// shortAddress is an address without what every address has.
func shortAddress(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	return strings.TrimSuffix(strings.TrimPrefix(rest, "www."), "/")
}

// numberedReferences lists one entry for each place, numbered in order of appearance.
func (r *Registry) numberedReferences(ids []string, o Options) (list []report.Reference) {
	at := map[string]int{} // by place
	for _, key := range ids {
		s := r.traces[key].Source
		i, known := at[placeKey(s)]
		if !known {
			i = len(list)
			at[placeKey(s)] = i
			list = append(list, report.Reference{Entries: []report.Entry{{Label: strconv.Itoa(i + 1), Text: describe(s, o)}}})
		}
		list[i].Entries[0].IDs = append(list[i].Entries[0].IDs, key)
	}
	return list
}

// describe says in Markdown what a source is and where it stands: title, section and page, document key, genre,
// publisher, date. The output of a program lies in the run's own data, together with the program.
func describe(s topicqueue.Source, o Options) string {
	title := cmp.Or(text.Line(s.Title), s.URL, s.Document)
	name, key, asOf := "", "", ""
	address, isURL := webAddress(s)
	if s.Stored() && o.Bundle != "" && pageName.MatchString(s.Document) {
		address, isURL = o.Bundle+s.Document, true
	}
	switch {
	case isURL:
		name = "[" + markdown.Escape(title) + "](" + address + ")"
	case title != s.Document:
		name = markdown.Escape(title)
	}
	if !isURL {
		key = markdown.CodeSpan(Link(s))
	}
	if s.AsOf != nil {
		asOf = o.asOf(s)
	}
	return dotted(name, markdown.EscapeInline(s.Within(), 0), key, o.genre(s.Genre), byline(s, title),
		markdown.EscapeInline(text.Line(s.Date), 0), asOf)
}

// asOf says of which day a source is, with the text of that day, which lies with the run that read it.
func (o Options) asOf(s topicqueue.Source) string {
	words := "as of " + s.AsOf.Date
	if o.AsOf != nil {
		words = o.AsOf(*s.AsOf)
	}
	page := topicqueue.PagePath(s.Hash)
	if o.Bundle == "" || !runName.MatchString(s.AsOf.RunID) || !pageName.MatchString(page) {
		return markdown.Escape(words)
	}
	return "[" + markdown.Escape(words) + "](" + path.Join(path.Dir(path.Clean(o.Bundle)), s.AsOf.RunID, page) + ")"
}

// runName is what a run is called.
var runName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// pageName is the place of a text in a bundle.
var pageName = regexp.MustCompile(`^pages/[0-9a-f]{64}\.txt$`)

// webAddress returns the source's link as a Markdown destination; false when it is not an http(s) URL.
func webAddress(s topicqueue.Source) (string, bool) {
	if address.Normalize(s.URL) == "" {
		return "", false
	}
	u, err := url.Parse(strings.TrimSpace(Link(s)))
	if err != nil {
		return "", false
	}
	escape := strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", " ", "%20", `\`, "%5C", "|",
		"%7C", "`", "%60")
	return escape.Replace(u.String()), true
}
