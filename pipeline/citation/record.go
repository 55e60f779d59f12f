package citation

// record lists what was found, in the order of the text.
func (v *verifier) record() {
	out := &v.verification
	for i, e := range v.entries {
		number := e.number
		if number == noNumber {
			number = i + 1
		}
		line := v.asItCame(e)
		if e.reason != "" {
			out.Removed = append(out.Removed, Removed{Number: number, ID: e.id, Line: line, LineNumber: e.line, Reason: e.reason,
				Detail: e.detail})
			continue
		}
		if e.source >= 0 {
			out.Valid = append(out.Valid, v.valid(e, number, line))
		}
	}
	for _, e := range v.added {
		out.Valid = append(out.Valid, v.valid(e, e.final, ""))
	}
}

func (v *verifier) valid(e *entry, number int, line string) Valid {
	s := v.Registry.sources[e.source]
	c := Valid{Number: number, ID: e.id, Line: line, LineNumber: e.line, Match: e.level, ReportNumber: e.final,
		Source: e.source}
	if s.URL != "" {
		c.URL = &s.URL
	}
	if s.Key != "" {
		c.CitationKey = &s.Key
	}
	return c
}

// merge adds the removals of a later pass, whose numbers are those of the pass before.
func (v *verifier) merge(later *verifier) {
	a, b := &v.verification, &later.verification
	a.BodyURLsRemoved += b.BodyURLsRemoved
	a.BodyURLsReplaced += b.BodyURLsReplaced
	a.UnsafeURLs = append(a.UnsafeURLs, b.UnsafeURLs...)
	original := map[int]int{}
	for _, c := range a.Valid {
		if c.ID == "" {
			original[c.ReportNumber] = c.Number
		}
	}
	for _, gone := range b.Removed {
		if n, known := original[gone.Number]; known && gone.ID == "" {
			gone.Number = n
		}
		a.Removed = append(a.Removed, gone)
	}
	type label struct {
		id     string
		number int
	}
	before := map[label]Valid{}
	for _, c := range a.Valid {
		l := label{c.ID, c.ReportNumber}
		if c.ID != "" {
			l.number = 0
		}
		before[l] = c
	}
	valid := []Valid{}
	for _, c := range b.Valid {
		l := label{c.ID, c.Number}
		if c.ID != "" {
			l.number = 0
		}
		if old, ok := before[l]; ok {
			old.ReportNumber = c.ReportNumber
			c = old
		}
		valid = append(valid, c)
	}
	a.Valid = valid
}
