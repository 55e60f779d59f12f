package citation

// Linked is an address in a text and the source that it leads to.
type Linked struct {
	URL     string   `json:"url"`     // as the writer had it
	Address string   `json:"address"` // the source's own
	Match   string   `json:"match"`   // one of the Match... constants
	Sources []string `json:"source_ids"`
}

// Links returns the addresses of a Markdown text, outside code, that lead to a source of the registry, each once, in
// order. Never fails.
func (r *Registry) Links(markdown string) []Linked {
	var out linkList
	w := newWalker(markdown, codeSpans(markdown))
	w.links.known = r.HasURL
	w.links.isMarker = func(_ int, g group) bool { return len(g.ids) > 0 }
	w.links.judge = func(dest string, _ linkKind) verdict {
		if l, ok := r.Lead(dest); ok {
			out.add(l)
		}
		return verdict{keep: true}
	}
	w.run()
	return out.list
}

// linkList has links in order, each of those that were written alike once.
type linkList struct {
	list []Linked
	urls map[string]bool
	led  map[string]bool // addresses
}

func (l *linkList) add(link Linked) {
	if l.urls[link.URL] {
		return
	}
	if l.urls == nil {
		l.urls, l.led = map[string]bool{}, map[string]bool{}
	}
	l.urls[link.URL], l.led[link.Address] = true, true
	l.list = append(l.list, link)
}
