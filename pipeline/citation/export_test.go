package citation

// Match returns the source that a URL stands for and how it was found.
func (r *Registry) Match(raw string) (Source, string, bool) {
	at, level, ok := r.matchURL(raw)
	if !ok {
		return Source{}, "", false
	}
	return r.sources[at], level, true
}
