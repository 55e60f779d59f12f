// Package support decides whether the sources that a sentence cites say what it says. It is deterministic and asks no
// model: every quote, quantity, date and name of the sentence must stand in the text of a cited source, beside the words
// that it is said of, and negation, direction and roles must agree; the rest of the wording is compared word by word.
//
// It errs to one side. Unsupported is said only of what can be pointed at; what cannot be decided, such as a free
// paraphrase, a derived value or a translation, is unverified. It does not judge whether a source is right.
//
// Entry points: New takes the sources, Corpus.Check judges a sentence, Lift asks an embedding model about what the words
// left open. Foreign text may leave more unverified; it never fails, and the time is linear in its length.
package support

import "strings"

// Rules is the number of the rules by which this version judges: others may judge otherwise. TestRules says when it must be raised.
const Rules = 1

// Result says what a check found.
type Result string

// The results of a check.
const (
	Supported   Result = "supported"
	Unsupported Result = "unsupported"
	Unverified  Result = "unverified"
)

// Reason says why a sentence is not supported.
type Reason string

// The reasons of Unsupported. Detail says which words of the sentence it is about.
const (
	ReasonQuote     Reason = "quote"     // a quotation does not stand there word for word
	ReasonNumber    Reason = "number"    // a number is not there
	ReasonUnit      Reason = "unit"      // the number is there with another unit
	ReasonMagnitude Reason = "magnitude" // the figures are there with another power of ten
	ReasonDate      Reason = "date"      // a date or year is not there
	ReasonSubject   Reason = "subject"   // a number or date is there and said of something else
	ReasonName      Reason = "name"      // a name is not there
	ReasonRoles     Reason = "roles"     // who does it to whom is the other way round
	ReasonNegation  Reason = "negation"  // one of the two is negated
	ReasonDirection Reason = "direction" // more for less, before for after, and the like
	ReasonWords     Reason = "words"     // hardly a word of it is there; also of Unverified: too few are
)

// The reasons of Unverified, besides ReasonWords and ReasonSubject.
const (
	ReasonNoText   Reason = "no_text"  // the text of the sources is not known
	ReasonDerived  Reason = "derived"  // a number can be computed from others that are there
	ReasonRounding Reason = "rounding" // a number is there, but rounded or limited in another way
	ReasonLanguage Reason = "language" // the sources are in another language
	ReasonAbsence  Reason = "absence"  // it says what the sources do not say
	ReasonUnknown  Reason = "unknown"  // the check itself failed
)

// Source is a text that can be cited.
type Source struct {
	ID    string
	Text  string // UTF-8, any length
	About string // what else is known of it: title, headings, authors, publisher, date; names and dates may stand there
}

// Verdict is the judgement of one sentence.
type Verdict struct {
	Result  Result   `json:"verdict"`
	Reason  Reason   `json:"reason,omitempty"` // empty when supported
	Detail  string   `json:"detail,omitempty"` // the words of the sentence that are not borne out
	Source  string   `json:"source,omitempty"` // ID of the source with the best passage; empty: none has any of it
	Start   int      `json:"start"`            // bytes of the best passage in that source's text
	End     int      `json:"end"`
	Sources []string `json:"sources,omitempty"` // IDs of the sources that bear it out, in the order in which they were given
	Overlap float64  `json:"overlap"`           // share of the sentence's content words in the best passages, 0 to 1
}

// Check judges one sentence by these sources; see Corpus.Check.
func Check(sentence string, sources []Source) Verdict {
	ids := make([]string, len(sources))
	for i, s := range sources {
		ids[i] = s.ID
	}
	return New(sources).Check(sentence, ids)
}

// Corpus holds sources in a form that many sentences can be checked by. A source is read when it is first cited. Not
// for concurrent use.
type Corpus struct {
	sources map[string]Source
	texts   map[string]*text
	stems   stems
}

// New returns the corpus of these sources. Of two with one ID the first counts.
func New(sources []Source) *Corpus {
	c := &Corpus{sources: map[string]Source{}, texts: map[string]*text{}, stems: stems{}}
	for _, s := range sources {
		if _, known := c.sources[s.ID]; !known {
			c.sources[s.ID] = s
		}
	}
	return c
}

// Passage returns the text that a verdict points at, empty when it points at none.
func (c *Corpus) Passage(v Verdict) string {
	s, ok := c.sources[v.Source]
	if !ok || v.Start < 0 || v.End > len(s.Text) || v.Start > v.End {
		return ""
	}
	return s.Text[v.Start:v.End]
}

// Check judges a sentence by the sources with these IDs, unknown ones being ignored: each of its facts must be borne out
// by at least one. sentence: UTF-8 without citation markers; Markdown emphasis, links and escapes are read as what they
// show. Never fails.
func (c *Corpus) Check(sentence string, ids []string) Verdict {
	var texts []*text
	seen := map[string]bool{}
	for _, id := range ids {
		if t := c.text(id); t != nil && !seen[id] {
			seen[id] = true
			texts = append(texts, t)
		}
	}
	if len(texts) == 0 {
		return Verdict{Result: Unverified, Reason: ReasonNoText}
	}
	likely := ""
	if allGerman(texts) {
		likely = "de"
	}
	return judge(newStatement(sentence, c.stems, likely), texts)
}

// text returns a source in the form that is checked by; nil when its text is not known.
func (c *Corpus) text(id string) *text {
	t, known := c.texts[id]
	if !known {
		if s, ok := c.sources[id]; ok && s.Text != "" {
			t = newText(s, c.stems)
		}
		c.texts[id] = t
	}
	return t
}

// Quoted judges a text that should stand in a source word for word, of one sentence or several; when it does not, it is
// judged as Check does.
func (c *Corpus) Quoted(quote string, ids []string) Verdict {
	needle := strings.TrimSpace(foldText(plain(quote)).text)
	for _, id := range ids {
		if t := c.text(id); t != nil && needle != "" {
			if i := t.folded.find(needle, 0); i >= 0 {
				start, end := t.folded.original(i, i+len(needle), len(t.Text))
				return Verdict{Result: Supported, Overlap: 1, Source: id, Start: start, End: end, Sources: []string{id}}
			}
		}
	}
	return c.Check(quote, ids)
}

// Factual reports a sentence that states what can be checked: a quantity, a date or a name.
func Factual(sentence string) bool {
	s := newStatement(sentence, stems{}, "")
	for _, q := range s.quantities {
		if !s.counts(q, counted) {
			return true
		}
	}
	for _, n := range s.names {
		if !n.weak {
			return true
		}
	}
	return len(s.quotes) > 0
}
