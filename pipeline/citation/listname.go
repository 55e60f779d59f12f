package citation

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
)

// listNames is listname.txt: names of lists of references, folded, parted by bars and line breaks.
//
//go:embed listname.txt
var listNames string

var referenceLabels = func() map[string]bool {
	labels := map[string]bool{}
	for label := range strings.FieldsFuncSeq(listNames, func(r rune) bool { return r == '|' || r == '\n' }) {
		labels[label] = true
	}
	return labels
}()

// firstWord returns the beginning of a label up to what may follow or join one.
func firstWord(label string) string {
	for i, r := range label {
		if r <= ' ' || strings.ContainsRune("/&|,・(（和与及", r) {
			return label[:i]
		}
	}
	return label
}

// firstWords are the first words of all labels.
var firstWords = func() map[string]bool {
	words := map[string]bool{}
	for label := range referenceLabels {
		words[firstWord(label)] = true
	}
	return words
}()

// softLabels name other things as well: the entries below them must lead somewhere.
var softLabels = map[string]bool{"notes": true, "note": true, "notas": true, "anmerkungen": true, "literature": true,
	"further reading": true, "文献": true, "注释": true, "参考": true, "参照": true, "引用": true}

// labelNote is what stands behind a label in brackets: "sources (12)".
var labelNote = regexp.MustCompile(`^([^(（]+?)\s*[(（][^()（）/]{0,40}[)）]$`)

var labelJoin = regexp.MustCompile(`\s*(?:[/&|,・]|\b(?:and|und|et|y|e|en|och|og)\b|\s(?:и|та|i|و)\s|\sو|\s및\s|和|与|及)\s*`)

// isReferenceLabel reports whether a heading's words name a list of references, in any of the languages known here:
// "references", "sources and notes", "参考文献". "sources of income" does not.
func isReferenceLabel(label string) bool {
	if label == "" || len(label) > 90 {
		return false
	}
	if referenceLabels[label] {
		return true
	}
	if !firstWords[firstWord(label)] {
		return false // nearly every line of a report
	}
	if m := labelNote.FindStringSubmatch(label); m != nil && isReferenceLabel(m[1]) {
		return true
	}
	parts := labelJoin.Split(label, -1)
	return len(parts) > 1 && !slices.ContainsFunc(parts, func(p string) bool { return !referenceLabels[p] })
}

// english labels are written as one, so that reports of different writers look alike.
var english = map[string]bool{"sources": true, "references": true, "reference list": true}
