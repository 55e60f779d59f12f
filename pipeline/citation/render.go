package citation

import (
	"slices"
	"strconv"
	"strings"

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

// genre names what kind of source it is, "" when nobody knows.
func (o Options) genre(genre string) string {
	if genre == topicqueue.GenreUnknown {
		return ""
	}
	if name := o.Genres[genre]; name != "" {
		return name
	}
	return genre
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
	w := newWalker(markdown, codeSpans(markdown))
	w.onGroup = func(_ int, g group) (string, bool) {
		if len(g.ids) == 0 {
			return "", false
		}
		var b strings.Builder
		for _, id := range g.ids {
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
			if w.fresh(label) {
				b.WriteString("[[" + label + "](#" + anchor + ")]")
			}
		}
		return b.String(), true
	}
	out.Body = w.run()
	if numbered {
		out.References = r.numberedReferences(out.Cited, out.Numbers, o) // while Cited is in order of appearance
	}
	slices.SortFunc(out.Cited, Compare)
	if !numbered {
		out.References = r.groupedReferences(out.Cited, o)
	}
	return out
}
