package citation

import (
	"fmt"
	"regexp"
	"strings"

	"nightdesk/pipeline/citation/address"
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
	raw := v.Registry.complete(v.text[e.body:e.end])
	unresolved, refused := 0, false // refused: the registry has it, but a reader could not check it
	w := newWalker(raw, nil)
	w.external, w.known = true, v.knows
	w.judge = func(dest string, _ linkKind) verdict {
		d, kind := destination(dest)
		if kind == destHarmless {
			return verdict{keep: true}
		}
		at, level, ok := v.matchURL(d)
		if ok && v.o.Sanitize {
			if detail := unfit(v.Registry.sources[at].URL); detail != "" {
				e.detail, ok, refused = detail, false, true
			}
		}
		if !ok {
			if unresolved++; v.o.Sanitize && (kind == destUnsafe || e.detail == detailUnsafe) {
				v.verification.UnsafeURLs = append(v.verification.UnsafeURLs, d)
				e.detail = detailUnsafe
			}
			return verdict{}
		}
		if e.source < 0 {
			e.source, e.level = at, level
		}
		spelling := safeSpelling(v.Registry.sources[at].URL)
		if spelling == dest {
			spelling = ""
		}
		return verdict{keep: true, dest: spelling}
	}
	e.text = w.run()
	switch {
	case e.source >= 0:
		e.place, e.detail = placeOf(v.Registry.sources[e.source]), ""
		return
	case unresolved > 0 || strings.Contains(raw, "://"):
		if e.reason = ReasonUnknownURL; refused {
			e.reason = ReasonUnverifiable
		}
		return
	}
	v.judgeWords(e, raw)
	if e.source < 0 && v.trusting {
		e.reason = ""
	}
}

// judgeWords looks up an entry without an address.
func (v *verifier) judgeWords(e *entry, raw string) {
	at, key := v.matchText(raw)
	switch {
	case at >= 0:
		e.source, e.level, e.place = at, MatchKey, placeOf(Source{Key: key})
		if e.anchor { // of our own: passages of one document are entries of their own
			e.place = text.Line(raw)
			if len(v.traces) > 0 {
				e.place = ""
			}
		}
	case v.titled(raw) >= 0 && (e.id == "" || len(v.traces) == 0):
		at = v.titled(raw)
		s := v.Registry.sources[at]
		e.source, e.level, e.place = at, MatchTitle, placeOf(s)
		if detail := unfit(s.URL); v.o.Sanitize && detail != "" && s.URL != "" {
			e.source, e.reason, e.detail = -1, ReasonUnverifiable, detail
			return
		}
		if s.URL != "" {
			e.text = strings.TrimRight(e.text, " :：") + ": " + safeSpelling(s.URL)
		}
	case e.id != "" && len(v.traces) > 0:
		if _, known := v.at[e.id]; !known {
			e.reason = ReasonUnknownKey
			return
		}
		e.source, e.level = v.at[e.id], MatchID
	case key != "":
		e.reason = ReasonUnknownKey
	default:
		e.reason = ReasonUnverifiable
	}
}

// destKind classifies a link destination.
type destKind int

const (
	destHarmless destKind = iota // within the report or beside it
	destWeb                      // to be found in the registry
	destUnsafe                   // runs something, or is not a page
)

// destination returns an address as a browser would parse it, and its kind.
func destination(raw string) (string, destKind) {
	d := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune("\x7f\u00ad\u200b\ufeff", r) {
			return -1 // browsers drop them within a scheme
		}
		return r
	}, address.DecodeEntities(address.DecodeEntities(raw)))
	d = strings.TrimSpace(d)
	switch s := scheme(d); {
	case s == "http" || s == "https":
		return Unescape(d), destWeb
	case s == "artifact": // a picture of the desk that wrote the report
		return d, destHarmless
	case s != "" || strings.Contains(d, "://"):
		return d, destUnsafe
	case len(d) > 1 && strings.IndexByte(`/\`, d[0]) >= 0 && strings.IndexByte(`/\`, d[1]) >= 0:
		return "https://" + strings.TrimLeft(d, `/\`), destWeb
	case foldPrefix(d, "www."):
		return "https://" + d, destWeb
	}
	return d, destHarmless
}

// unfit returns the reason why a source's own address is not allowed in a report, or "".
func unfit(raw string) string {
	if strings.Contains(raw, "…") || strings.HasSuffix(raw, "...") {
		return detailTruncated
	}
	a, ok := address.Parse(raw)
	switch {
	case !ok || a.IsIP():
		return detailUnsafe
	case a.IsShortened():
		return detailShortened
	}
	return ""
}

// judgeBody decides on an address outside the references. The address of a source is replaced by its marker.
func (v *verifier) judgeBody(dest string, kind linkKind) verdict {
	d, k := destination(dest)
	if k == destHarmless {
		return verdict{keep: true}
	}
	at, level, ok := v.matchURL(d)
	if ok && (level == MatchExact || !isSite(d)) && unfit(v.Registry.sources[at].URL) == "" {
		if kind == linkDefinition {
			return verdict{} // what refers to it becomes the marker
		}
		v.verification.BodyURLsReplaced++
		return verdict{after: v.citing(at, level).marker()}
	}
	v.verification.BodyURLsRemoved++
	if a, ok := address.Parse(d); k == destUnsafe || !ok || a.IsIP() {
		v.verification.UnsafeURLs = append(v.verification.UnsafeURLs, d)
	}
	return verdict{}
}

// citing returns the entry that cites a source. It adds one for a source that the text links but the references lack.
func (v *verifier) citing(at int, level string) *entry {
	s := v.Registry.sources[at]
	place := placeOf(s)
	if e := v.bySource[place]; e != nil {
		return e
	}
	e := &entry{label: label{number: noNumber, anchor: v.anchors}, final: v.top + len(v.added) + 1,
		found: found{source: at, level: level, place: place}}
	if v.last != nil {
		e.footnote = v.last.footnote
	}
	if e.text = entryText(s); text.Line(s.Title) == "" {
		if a, ok := address.Parse(s.URL); ok {
			e.text = Escape(a.Host) + ": " + e.text
		}
	}
	v.bySource[place] = e
	v.added = append(v.added, e)
	return e
}

// siteName is an address without its path.
var siteName = regexp.MustCompile(`^[^:]*://[^/?#]*`)

// safeSpelling returns a source's address for use in Markdown, with characters escaped that would end it on a line or
// in parentheses.
func safeSpelling(raw string) string {
	raw = strings.ToValidUTF8(strings.TrimSpace(address.DecodeEntities(raw)), "")
	host := len(siteName.FindString(raw))
	open := 0
	for i := 0; i < len(raw) && open >= 0; i++ {
		switch raw[i] {
		case '(':
			open++
		case ')':
			open--
		}
	}
	ends := addressStops + "[]…\x7f" // characters that are escaped
	if open != 0 {
		ends += "()"
	}
	var b strings.Builder
	b.WriteString(raw[:host])
	for i, r := range raw[host:] {
		last := host+i+len(string(r)) == len(raw)
		if r <= ' ' || strings.ContainsRune(ends, r) || last && strings.ContainsRune(addressMarks, r) {
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// addressesIn returns the http(s) addresses of a text.
func addressesIn(text string) []string {
	var out []string
	w := newWalker(text, nil)
	w.external, w.known = true, func(string) bool { return true }
	w.judge = func(dest string, _ linkKind) verdict {
		if d, kind := destination(dest); kind == destWeb {
			out = append(out, d)
		}
		return verdict{keep: true}
	}
	w.run()
	return out
}
