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
	"nightdesk/pipeline/citation/markup"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// Rendered is a text with linked markers and the references that they lead to.
type Rendered struct {
	Body       string
	References string   // Markdown, without a heading of its own; ends without a line break
	Cited      []string // ids that Body cites, ordered by Compare
	// Numbers has the number of each cited id in numbered style, where several ids may share one; nil otherwise.
	Numbers map[string]int
}

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
	return markup.EscapeInline(cmp.Or(o.Genres[genre], genre), 0)
}

// Render links the markers of Markdown that Resolve has returned, or that was put together from escaped text and
// canonical markers, and lists the references. Equal places share a number in numbered style; neighbours that cite the
// same show it once, behind the last of them. Every marker of the result has its reference, every reference is cited;
// markers of unknown ids are removed. Rendering a body again with anchors changes nothing. Code is left alone. Never
// fails.
func (r *Registry) Render(markdown string, o Options) Rendered {
	var out Rendered
	numbers := map[string]int{} // by place
	seen := map[string]bool{}
	numbered := o.Style == topicqueue.CitationNumbered
	if numbered {
		out.Numbers = map[string]int{}
	}
	e := markup.Scan(markdown, r.HasURL).Edit()
	e.OnMarker = func(t markup.Token) (string, bool) {
		if len(t.Group.IDs) == 0 {
			return "", false
		}
		var b strings.Builder
		for _, id := range t.Group.IDs {
			key := id.String()
			trace, known := r.traces[key]
			if !known {
				continue
			}
			if !seen[key] {
				seen[key] = true
				out.Cited = append(out.Cited, key)
			}
			label, anchor := key, id.Anchor()
			if numbered {
				place := placeKey(trace.Source)
				if numbers[place] == 0 {
					numbers[place] = len(numbers) + 1
				}
				out.Numbers[key] = numbers[place]
				label = strconv.Itoa(numbers[place])
				anchor = "ref-" + label
			}
			if e.Fresh(label) {
				b.WriteString("[[" + label + "](#" + anchor + ")]")
			}
		}
		return b.String(), true
	}
	out.Body = e.Run(0, len(markdown))
	if numbered {
		out.References = r.numberedReferences(out.Cited, out.Numbers, o) // while Cited is in order of appearance
	}
	slices.SortFunc(out.Cited, markup.Compare)
	if !numbered {
		out.References = r.groupedReferences(out.Cited, o)
	}
	return out
}

// groupedReferences lists the sources, a paragraph each: what the document is, and below it a line for each id with
// the place that it stands for.
func (r *Registry) groupedReferences(ids []string, o Options) string {
	var order []string
	lines := map[string][]string{} // by document
	current := map[string]bool{}   // the first line tells of the document as it is now
	for _, key := range ids {
		id, _ := markup.ParseID(key)
		s := r.traces[key].Source
		document := documentKey(s)
		if lines[document] == nil {
			order = append(order, document)
			lines[document] = []string{""}
		}
		if lines[document][0] == "" || s.AsOf == nil && !current[document] {
			lines[document][0], current[document] = aboutDocument(s, o), s.AsOf == nil
		}
		line := `<a id="` + id.Anchor() + `"></a> [` + key + "]"
		if place := placeInDocument(s, o); place != "" {
			line += " " + place
		}
		lines[document] = append(lines[document], line)
	}
	entries := make([]string, len(order))
	for i, document := range order {
		entries[i] = strings.Join(lines[document], "  \n") // two spaces: a line break within the paragraph
	}
	return strings.Join(entries, "\n\n")
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
		key = markup.CodeSpan(s.Document)
	}
	date := markup.EscapeInline(text.Line(s.Date), 0)
	return dotted("**"+markup.Escape(title)+"**", byline(s, title), o.genre(s.Genre), date, key)
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
	return markup.Escape(s.By())
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
	if place = markup.Escape(place); linked {
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

// numberedReferences lists one entry for each number. ids are in order of appearance.
func (r *Registry) numberedReferences(ids []string, numbers map[string]int, o Options) string {
	var entries []string
	for _, key := range ids {
		n := numbers[key]
		if n != len(entries)+1 {
			continue // shares the number of an earlier one
		}
		label := strconv.Itoa(n)
		entries = append(entries, `<a id="ref-`+label+`"></a> [`+label+"] "+describe(r.traces[key].Source, o))
	}
	return strings.Join(entries, "\n\n")
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
		name = "[" + markup.Escape(title) + "](" + address + ")"
	case title != s.Document:
		name = markup.Escape(title)
	}
	if !isURL {
		key = markup.CodeSpan(Link(s))
	}
	if s.AsOf != nil {
		asOf = o.asOf(s)
	}
	return dotted(name, markup.EscapeInline(s.Within(), 0), key, o.genre(s.Genre), byline(s, title),
		markup.EscapeInline(text.Line(s.Date), 0), asOf)
}

// asOf says of which day a source is, with the text of that day, which lies with the run that read it.
func (o Options) asOf(s topicqueue.Source) string {
	words := "as of " + s.AsOf.Date
	if o.AsOf != nil {
		words = o.AsOf(*s.AsOf)
	}
	page := topicqueue.PagePath(s.Hash)
	if o.Bundle == "" || !runName.MatchString(s.AsOf.RunID) || !pageName.MatchString(page) {
		return markup.Escape(words)
	}
	return "[" + markup.Escape(words) + "](" + path.Join(path.Dir(path.Clean(o.Bundle)), s.AsOf.RunID, page) + ")"
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
