package citation

import (
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"

	"nightdesk/topicqueue"
)

// maxQueryRunes bounds the query shown in a reference; a whole paragraph would hide the source.
const maxQueryRunes = 160

// maxPublisherRunes bounds the name of a publisher: some sites put a slogan there.
const maxPublisherRunes = 60

// groupedReferences lists one entry for each id, below a heading for each block.
func (r *Registry) groupedReferences(ids []string, o Options) string {
	var entries []string
	last := -1
	for _, key := range ids {
		id, _ := ParseID(key)
		trace := r.traces[key]
		if id.Block != last {
			entries = append(entries, "### "+groupHeading(id.Block, o))
			last = id.Block
		}
		label := `<a id="` + id.Anchor() + `"></a> [` + key + "] " + Escape(trace.ToolType)
		if query := clip(fold(trace.Query), maxQueryRunes); query != "" {
			label += ": " + Escape(query)
		}
		if d := describe(trace.Source, o); d != "" {
			label += "  \n" + d // two spaces: a line break within the entry
		}
		entries = append(entries, label)
	}
	return strings.Join(entries, "\n\n")
}

func groupHeading(block int, o Options) string {
	if block == 0 {
		if o.Planning != "" {
			return Escape(o.Planning)
		}
		return "Planning"
	}
	if o.Group != nil {
		if title := o.Group(block); title != "" {
			return Escape(title)
		}
	}
	return "Block " + strconv.Itoa(block)
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

// describe says in Markdown what a source is and where it stands: title, section and page, document key, genre, publisher,
// date. The output of a program lies in the run's own data, together with the program.
func describe(s topicqueue.Source, o Options) string {
	title := fold(s.Title)
	if title == "" {
		title = s.URL
	}
	if title == "" {
		title = s.Document
	}
	var parts []string
	address, isURL := webAddress(s)
	if s.Kind == topicqueue.SourceCode && o.Bundle != "" && pageName.MatchString(s.Document) {
		address, isURL = o.Bundle+s.Document, true
	}
	switch {
	case isURL:
		parts = append(parts, "["+Escape(title)+"]("+address+")")
	case title != "" && title != s.Document:
		parts = append(parts, Escape(title))
	}
	if place := within(s); place != "" {
		parts = append(parts, escapeInline(place, 0))
	}
	if !isURL && Link(s) != "" {
		parts = append(parts, codeSpan(Link(s)))
	}
	if kind := o.genre(s.Genre); kind != "" {
		parts = append(parts, escapeInline(kind, 0))
	}
	if p := clip(fold(s.Publisher), maxPublisherRunes); p != "" && !strings.Contains(strings.ToLower(title), strings.ToLower(p)) {
		parts = append(parts, Escape(p))
	}
	if s.Date != "" {
		parts = append(parts, escapeInline(fold(s.Date), 0))
	}
	if s.AsOf != nil {
		parts = append(parts, o.asOf(s))
	}
	return strings.Join(parts, " · ")
}

// asOf says of which day a source is, with the text of that day, which lies with the run that read it.
func (o Options) asOf(s topicqueue.Source) string {
	words := "as of " + s.AsOf.Date
	if o.AsOf != nil {
		words = o.AsOf(s.AsOf.Date)
	}
	page := "pages/" + s.Hash + ".txt"
	if o.Bundle == "" || !runName.MatchString(s.AsOf.RunID) || !pageName.MatchString(page) {
		return Escape(words)
	}
	return "[" + Escape(words) + "](" + path.Join(path.Dir(path.Clean(o.Bundle)), s.AsOf.RunID, page) + ")"
}

// runName is what a run is called.
var runName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// pageName is the place of a text in a bundle.
var pageName = regexp.MustCompile(`^pages/[0-9a-f]{64}\.txt$`)

// webAddress returns the source's link as a Markdown destination; false when it is not an http(s) URL.
func webAddress(s topicqueue.Source) (string, bool) {
	if NormalizeURL(s.URL) == "" {
		return "", false
	}
	u, err := url.Parse(strings.TrimSpace(Link(s)))
	if err != nil {
		return "", false
	}
	escape := strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", " ", "%20", `\`, "%5C", "|", "%7C", "`", "%60")
	return escape.Replace(u.String()), true
}

// clip cuts s to at most n runes and marks the cut.
func clip(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return strings.TrimRight(string(runes[:n-1]), " ") + "…"
}
