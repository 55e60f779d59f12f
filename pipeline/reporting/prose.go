package reporting

import (
	"cmp"
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/extractive"
)

const (
	// A document section gets a heading of its own when it has this many quotes and is not the only one.
	headingQuotes = 2
	// A longer paragraph is split: each quote is followed by a marker, which makes reading slow.
	paragraphQuotes = 5
)

// cluster is the claims of one section of one document, in the order of the document.
type cluster struct {
	heading string // the document's own, cleaned; may be empty
	parent  string // the heading above it, else the document's title
	claims  []claim
}

// clusters groups claims by the section that they stand in. Documents come in the order of their first claim, the
// sections of a document as they stand in it.
func clusters(claims []claim) []cluster {
	var found []cluster
	at := map[string]int{}
	for _, c := range claims {
		key := c.document() + "\x00" + strings.Join(c.source.Section, "\x00")
		i, known := at[key]
		if !known {
			i = len(found)
			at[key] = i
			found = append(found, newCluster(c))
		}
		found[i].claims = append(found[i].claims, c)
	}
	for i := range found {
		slices.SortStableFunc(found[i].claims, func(a, b claim) int { return cmp.Compare(a.offset(), b.offset()) })
	}
	documents := map[string]int{}
	for _, c := range claims {
		if _, known := documents[c.document()]; !known {
			documents[c.document()] = len(documents)
		}
	}
	slices.SortStableFunc(found, func(a, b cluster) int {
		return cmp.Or(cmp.Compare(documents[a.claims[0].document()], documents[b.claims[0].document()]), cmp.Compare(a.claims[0].offset(), b.claims[0].offset()))
	})
	return found
}

func newCluster(c claim) cluster {
	headings := []string{CleanTitle(extractive.Heading(c.source.Title))}
	for _, h := range c.source.Section {
		if title := CleanTitle(extractive.Heading(h)); title != "" && !sameTitle(title, headings[len(headings)-1]) {
			headings = append(headings, title)
		}
	}
	last := len(headings) - 1
	if last == 0 {
		return cluster{heading: headings[0]}
	}
	return cluster{heading: headings[last], parent: headings[last-1]}
}

// prose shows claims as paragraphs: those of one document section stand together, with its heading where several
// sections have something substantial to say; then the others follow under a heading of their own. text says what is
// shown of a claim, title is the heading above all this: what the document says under that very heading comes first.
func (w wordSet) prose(claims []claim, title string, text func(claim) string) string {
	groups := clusters(claims)
	if slices.ContainsFunc(claims, func(c claim) bool { return c.home }) {
		return w.homeProse(groups, title, text)
	}
	used := map[string]bool{titleKey(title): true}
	var lead, headed []string
	var rest []cluster
	headings := 0
	for _, g := range groups {
		if len(g.claims) >= headingQuotes && len(lead) == 0 && sameTitle(g.heading, title) {
			lead = claimParagraphs(g.claims, text) // its heading stands above already
			continue
		}
		heading := g.headingUnused(used)
		if len(g.claims) < headingQuotes || heading == "" {
			rest = append(rest, g)
			continue
		}
		used[titleKey(heading)] = true
		headings++
		headed = append(headed, "### "+citation.Escape(heading))
		headed = append(headed, claimParagraphs(g.claims, text)...)
	}
	if headings < 2 && (headings == 0 || len(lead) == 0) { // a single heading tells nothing apart
		return strings.Join(unheaded(groups, text), "\n\n")
	}
	if len(rest) > 0 {
		headed = append(append(headed, "### "+w.further), unheaded(rest, text)...)
	}
	return strings.Join(append(lead, headed...), "\n\n")
}

// proseOf shows claims of a subject: in the parts that its template gives it, else by what they stand in.
func (w wordSet) proseOf(s subject, claims []claim, text func(claim) string) string {
	if len(s.parts) > 0 {
		return partedProse(claims, s.parts, text)
	}
	return w.prose(claims, s.title, text)
}

// homeProse shows first, in the order of the document, what the section says that all this was planned from, with its
// own subsections as headings where several of them have something substantial to say; then other sections with theirs.
func (w wordSet) homeProse(groups []cluster, title string, text func(claim) string) string {
	var home, away []cluster
	substantial := 0
	for _, g := range groups {
		if !g.claims[0].home {
			away = append(away, g)
			continue
		}
		home = append(home, g)
		if len(g.claims) > headingQuotes {
			substantial++
		}
	}
	used := map[string]bool{titleKey(title): true}
	var out []string
	var flow []claim // without a heading between them
	for _, g := range home {
		heading := g.headingUnused(used)
		// What is called like all this needs no heading, unless it would stand under that of something else.
		named := !likeHeading(g.heading, title) || len(used) > 1
		if substantial > 1 && len(g.claims) >= headingQuotes && heading != "" && named {
			out, flow = append(append(out, claimParagraphs(flow, text)...), "### "+citation.Escape(heading)), nil
			used[titleKey(heading)] = true
		}
		flow = append(flow, g.claims...)
	}
	out = append(out, claimParagraphs(flow, text)...)
	for _, g := range away {
		if heading := g.headingUnused(used); heading != "" {
			used[titleKey(heading)] = true
			out = append(out, "### "+citation.Escape(heading))
		}
		out = append(out, claimParagraphs(g.claims, text)...)
	}
	return strings.Join(out, "\n\n")
}

// unheaded shows clusters without headings: paragraphs, then what stands alone as a list, for single sentences from
// different places do not make a paragraph.
func unheaded(groups []cluster, text func(claim) string) []string {
	var out, single []string
	for _, g := range groups {
		if len(g.claims) > 1 {
			out = append(out, claimParagraphs(g.claims, text)...)
		} else {
			single = append(single, cite(g.claims[0], text))
		}
	}
	switch {
	case len(single) == 1:
		out = append(out, single[0])
	case len(single) > 1:
		out = append(out, "- "+strings.Join(single, "\n- "))
	}
	return out
}

// headingUnused returns the cluster's heading, with the one above it where the heading alone has been used ("Examples"),
// and "" when neither is left.
func (g cluster) headingUnused(used map[string]bool) string {
	if g.heading != "" && !used[titleKey(g.heading)] {
		return g.heading
	}
	if both := CleanTitle(g.parent + ": " + g.heading); g.heading != "" && g.parent != "" && !used[titleKey(both)] {
		return both
	}
	return ""
}

// claimParagraphs writes each claim with its marker, a few to a paragraph.
func claimParagraphs(claims []claim, text func(claim) string) []string {
	parts := (len(claims) + paragraphQuotes - 1) / paragraphQuotes
	var out []string
	for i := range parts { // of equal length, so that no single sentence trails behind
		var sentences []string
		for _, c := range claims[i*len(claims)/parts : (i+1)*len(claims)/parts] {
			sentences = append(sentences, cite(c, text))
		}
		out = append(out, strings.Join(sentences, " "))
	}
	return out
}

// cite writes one claim with its marker.
func cite(c claim, text func(claim) string) string {
	return citation.Escape(text(c)) + " [" + c.CitationID + "]"
}

// localSection is a section put together from its claims: what a reader gets where the model failed.
func (w wordSet) localSection(subjects []subject) string {
	var seen extractive.Seen
	var parts []string
	for _, s := range subjects {
		var fresh []claim
		for _, c := range s.claims {
			if seen.Add(c.statement()) {
				fresh = append(fresh, c)
			}
		}
		if len(fresh) == 0 {
			continue
		}
		if len(subjects) == 1 {
			return w.proseOf(s, fresh, claim.statement)
		}
		parts = append(parts, "### "+citation.Escape(s.title))
		for _, g := range clusters(fresh) {
			parts = append(parts, claimParagraphs(g.claims, claim.statement)...)
		}
	}
	return strings.Join(parts, "\n\n")
}
