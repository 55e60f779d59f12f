package citation

import (
	"slices"

	"nightdesk/pipeline/citation/address"
)

// sort must be called after the last add.
func (r *Registry) sort() {
	slices.SortStableFunc(r.documents.files, func(a, b string) int { return len(b) - len(a) })
}

func (r *Registry) add(s Source) {
	at := len(r.sources)
	r.sources = append(r.sources, s)
	r.addresses.Add(s.URL, at)
	r.documents.add(s.Key, at)
	if title := foldTitle(s.Title); title != "" {
		first, known := r.titles[title]
		switch {
		case !known:
			r.titles[title] = at
		case first >= 0 && PlaceOf(r.sources[first]) != PlaceOf(s):
			r.titles[title] = -1
		}
	}
}

// MatchURL returns the index in sources of the source that a URL identifies, and the level of the match.
func (r *Registry) MatchURL(raw string) (at int, level string, ok bool) {
	return r.addresses.Match(raw)
}

// HasURL reports whether a source has this URL in any spelling.
func (r *Registry) HasURL(raw string) bool {
	_, level, ok := r.MatchURL(raw)
	return ok && level == MatchExact
}

// Lead returns the position of the source that an address in a text identifies. A host without a path identifies only a
// source with that address. An address that is not allowed in reports identifies none.
func (r *Registry) Lead(dest string) (at int, level string, ok bool) {
	at, level, ok = r.MatchURL(dest)
	a, parsed := address.Parse(dest)
	site := parsed && a.IsSite()
	return at, level, ok && (level == MatchExact || !site && Unfit(r.sources[at].URL) == "")
}
