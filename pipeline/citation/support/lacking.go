package support

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/text"
)

// Lacking returns what the sources with these IDs lack of a sentence, and which other texts have all of it, so that
// citing one of them as well may support the sentence. sentence and head: as for Check. others: the text, the quote and
// the document's head of each claim that could be cited.
//
// missing has figures and dates that are absent by Check, then names, each as the sentence writes it. A name is a word
// that contains a capital letter or a digit, also within a sentence of the others: a word that none of them writes so
// may be a common word of the writer, or invented, and no citation would help. Scripts without capital letters have
// no names. holders are indexes into others, the most similar to the sentence first. Both are empty if nothing is
// missing or no cited source has a text; holders is empty if no single text has all.
func (c *Corpus) Lacking(sentence, head string, ids, others []string) (missing []string, holders []int) {
	findings := c.Check(sentence, head, ids)
	if findings.NoText {
		return nil, nil
	}
	claims := make([]Source, len(others))
	written, has := map[string]bool{}, make([]map[string]bool, len(others))
	for i, other := range others {
		claims[i] = Source{ID: fmt.Sprint(i), Text: other}
		has[i] = map[string]bool{}
		for _, w := range wordsIn(other) {
			has[i][strings.ToLower(w.text)] = true
			written[w.text] = written[w.text] || w.named && w.inside
		}
	}
	cited, figures, rest := c.words(ids), map[string]bool{}, plain(sentence)
	for _, f := range findings.Figures {
		rest = strings.Replace(rest, f.Text, " ", 1) // July is no name
		if f.Result == Absent && !figures[f.Text] {
			missing, figures[f.Text] = append(missing, f.Text), true
		}
	}
	for _, w := range wordsIn(rest) {
		if low := strings.ToLower(w.text); w.named && written[w.text] && !cited[low] {
			missing, cited[low] = append(missing, w.text), true
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	corpus, alike := New(claims), make([]float64, len(others))
	for i := range others {
		lacks := func(word string) bool { return !figures[word] && !has[i][strings.ToLower(word)] }
		absent := func(f Figure) bool { return f.Result == Absent && figures[f.Text] }
		found := corpus.Check(sentence, head, []string{claims[i].ID})
		if !found.NoText && !slices.ContainsFunc(missing, lacks) && !slices.ContainsFunc(found.Figures, absent) {
			holders, alike[i] = append(holders, i), text.Similarity(sentence, others[i])
		}
	}
	slices.SortStableFunc(holders, func(a, b int) int { return cmp.Compare(alike[b], alike[a]) })
	return missing, holders
}

// words returns the words of sources and of what is known about them, in lower case.
func (c *Corpus) words(ids []string) map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]bool{}
	for _, d := range c.documents(ids) {
		for _, w := range wordsIn(d.Text + "\n" + d.About) {
			out[strings.ToLower(w.text)] = true
		}
	}
	return out
}

// word is a run of letters and digits.
type word struct {
	text   string
	named  bool // has a capital letter, or a digit among letters
	inside bool // a word or a comma precedes it, so that it does not begin a sentence
}

func wordsIn(s string) []word {
	var out []word
	at := 0
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return !letterOrDigit(r) }) {
		start := at + strings.Index(s[at:], w)
		before := strings.TrimRight(s[at:start], " \"“‘(")
		inside := at > 0 && (before == "" || strings.HasSuffix(before, ","))
		letters := strings.ContainsFunc(w, unicode.IsLetter)
		named := letters && strings.ContainsFunc(w, func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) })
		out = append(out, word{w, named, inside})
		at = start + len(w)
	}
	return out
}
