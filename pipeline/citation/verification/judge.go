package verification

import (
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/address"
	"nightdesk/pipeline/citation/markup"
	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/text"
)

// found is the target of an entry of the references, and how it is written.
type found struct {
	source int    // position in the registry's sources; -1 = none
	level  string // one of the Match... constants
	place  string // distinguishes entries; empty if the entry is unique
	text   string // what follows the label in the result
	reason string // why it is removed; empty if it is kept
	detail string
}

// judgeEntry looks up what an entry names: addresses first, then documents, titles, ids.
func (v *verifier) judgeEntry(e *entry) {
	e.source = -1
	raw := complete(v.Registry, v.Markdown[e.body:e.end])
	unresolved, refused := 0, false // refused: the registry has it, but a reader could not check it
	w := scan(v.Registry, raw).Edit()
	w.Coded = true
	w.OnLink = func(t markup.Token) markup.Verdict {
		dest := t.Dest
		d, kind := citation.Destination(dest)
		if kind == citation.Harmless {
			return markup.Verdict{Keep: true}
		}
		at, level, ok := v.MatchURL(d)
		if ok {
			if detail := citation.Unfit(v.At(at).URL); detail != "" {
				e.detail, ok, refused = detail, false, true
			}
		}
		if !ok {
			if unresolved++; kind == citation.Unsafe || e.detail == citation.DetailUnsafe {
				v.verification.UnsafeURLs = append(v.verification.UnsafeURLs, d)
				e.detail = citation.DetailUnsafe
			}
			return markup.Verdict{}
		}
		if e.source < 0 {
			e.source, e.level = at, level
		}
		spelling := citation.SafeSpelling(v.At(at).URL)
		if spelling == dest {
			spelling = ""
		}
		return markup.Verdict{Keep: true, Dest: spelling}
	}
	e.text = w.Run(0, len(raw))
	switch {
	case e.source >= 0:
		e.place, e.detail = citation.PlaceOf(v.At(e.source)), ""
		return
	case unresolved > 0 || strings.Contains(raw, "://"):
		if e.reason = citation.ReasonUnknownURL; refused {
			e.reason = ReasonUnverifiable
		}
		return
	}
	v.judgeWords(e, raw)
}

// judgeWords looks up an entry without an address.
func (v *verifier) judgeWords(e *entry, raw string) {
	at, key := v.MatchText(raw)
	switch {
	case at >= 0:
		e.source, e.level, e.place = at, citation.MatchKey, citation.PlaceOf(citation.Source{Key: key})
	case v.Titled(raw) >= 0:
		at = v.Titled(raw)
		s := v.At(at)
		e.source, e.level, e.place = at, citation.MatchTitle, citation.PlaceOf(s)
		if detail := citation.Unfit(s.URL); detail != "" && s.URL != "" {
			e.source, e.reason, e.detail = -1, ReasonUnverifiable, detail
			return
		}
		if s.URL != "" {
			e.text = strings.TrimRight(e.text, " :：") + ": " + citation.SafeSpelling(s.URL)
		}
	case key != "":
		e.reason = citation.ReasonUnknownKey
	default:
		e.reason = ReasonUnverifiable
	}
}

// judgeBody decides on an address outside the references. The address of a source is replaced by its marker.
func (v *verifier) judgeBody(t markup.Token) markup.Verdict {
	d, k := citation.Destination(t.Dest)
	if k == citation.Harmless {
		return markup.Verdict{Keep: true}
	}
	at, level, ok := v.MatchURL(d)
	if ok && (level == citation.MatchExact || !citation.IsSite(d)) && citation.Unfit(v.At(at).URL) == "" {
		if t.Kind == markup.Definition {
			return markup.Verdict{} // what refers to it becomes the marker
		}
		v.verification.BodyURLsReplaced++
		return markup.Verdict{After: v.citing(at, level).marker()}
	}
	if t.Labelled { // its definition counts
		return markup.Verdict{}
	}
	v.verification.BodyURLsRemoved++
	a, ok := address.Parse(d)
	switch {
	case k == citation.Unsafe || !ok || a.IsIP():
		v.verification.UnsafeURLs = append(v.verification.UnsafeURLs, d)
		return markup.Verdict{}
	case a.IsShortened(): // names no site
		return markup.Verdict{}
	}
	return markup.Verdict{Name: markdown.Escape(strings.TrimPrefix(a.Host, "www."))}
}

// citing returns the entry that cites a source. It adds one for a source that the text links but the references lack.
func (v *verifier) citing(at int, level string) *entry {
	s := v.At(at)
	place := citation.PlaceOf(s)
	if e := v.bySource[place]; e != nil {
		return e
	}
	e := &entry{label: label{number: noNumber}, final: v.top + len(v.added) + 1,
		found: found{source: at, level: level, place: place}}
	if v.last != nil {
		e.footnote = v.last.footnote
	}
	if e.text = entryText(s); text.Line(s.Title) == "" {
		if a, ok := address.Parse(s.URL); ok {
			e.text = markdown.Escape(a.Host) + ": " + e.text
		}
	}
	v.bySource[place] = e
	v.added = append(v.added, e)
	return e
}
