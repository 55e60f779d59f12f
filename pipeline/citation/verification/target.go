package verification

import (
	"regexp"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/markup"
)

// scan reads Markdown of which addresses of sources are known.
func scan(r *citation.Registry, source string) *markup.Scanned {
	return markup.Scan(source, func(raw string) bool {
		d, kind := citation.Destination(raw)
		_, _, ok := r.MatchURL(d)
		return ok && kind == citation.Web
	})
}

// hasTarget reports whether a line names a target: an address, a document, or a name that looks like a document.
func hasTarget(r *citation.Registry, line string) bool {
	if citation.HasAddress(line) {
		return true
	}
	_, key := r.MatchText(line)
	return key != "" || r.Titled(line) >= 0
}

// noScheme is an address without a scheme.
var noScheme = regexp.MustCompile(`(?i)(?:^|[\s(<\[*"“])((?:[\pL\pN-]+\.)+[\pL]{2,24}/[^\s<>"` + "`" + `|]+)`)

// complete writes the names of papers and addresses without a scheme as addresses of sources.
func complete(r *citation.Registry, text string) string {
	if len(text) > citation.MaxLine || strings.Contains(text, "://") {
		return text
	}
	if text = replaceNames(r, text); strings.Contains(text, "://") {
		return text
	}
	var changes []markup.Change
	for _, m := range noScheme.FindAllStringSubmatchIndex(text, 8) {
		rest := text[m[2]:m[3]]
		rest = strings.TrimRight(rest[:markup.AddressEnd(rest, 0, len(rest))], markup.AddressMarks)
		if r.HasURL("https://" + rest) {
			changes = append(changes, markup.Change{Start: m[2], End: m[2], With: "https://"})
		}
	}
	return markup.OutsideCode(text, changes)
}

// paperName is what papers are called by, doi:10.1000/182 and arXiv:2401.01234, and has an address by.
var paperName = regexp.MustCompile(`(?i)\b(?:doi[:：]?[ ]?(10\.[0-9]{4,9}/[^\s<>"` + "`" +
	`|]+)|arxiv[:：][ ]?([0-9]{4}\.[0-9]{4,5}(?:v[0-9]{1,2})?))`)

// replaceNames writes the names of papers as the addresses of sources that they stand for.
func replaceNames(r *citation.Registry, text string) string {
	return paperName.ReplaceAllStringFunc(text, func(name string) string {
		m := paperName.FindStringSubmatch(name)
		address, after := "https://arxiv.org/abs/"+m[2], ""
		if m[1] != "" {
			id := strings.TrimRight(m[1][:markup.AddressEnd(m[1], 0, len(m[1]))], markup.AddressMarks)
			address, after = "https://doi.org/"+id, m[1][len(id):]
		}
		if _, level, ok := r.MatchURL(address); !ok || level != citation.MatchExact {
			return name
		}
		return address + after
	})
}
