package extractive

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Keywords returns at most limit words and phrases of up to three words that tell best what texts are about, best
// first, in their most frequent written form. No stop words, no numbers alone, nothing twice.
//
// Phrases are ranked by how often and in how many of the texts they occur, and by what is known of their words in
// general; a part of a chosen phrase is not listed beside it unless it occurs much more often.
func Keywords(texts []string, limit int) []string {
	k := keywordCounter{st: stemmer{}, found: map[string]*candidate{}}
	for i, text := range texts {
		for _, p := range parse(text) {
			for _, s := range p.sentences {
				k.add(i, s.Text, s.Complete)
			}
		}
	}
	return k.best(limit)
}

type candidate struct {
	key    string
	stems  []string
	count  float64
	texts  map[int]bool
	forms  map[string]int
	weight float64
}

type keywordCounter struct {
	st    stemmer
	found map[string]*candidate
}

// keyToken is one content word in a run of content words that no punctuation parts.
type keyToken struct {
	surface, stem string
	weight        float64
}

// add counts the candidates of one sentence. prose: sentences count whole, headings and labels a little more, because
// they were written to name their subject.
func (k *keywordCounter) add(text int, s string, prose bool) {
	step := 1.0
	if !prose && len(s) < 80 {
		step = 1.3
	}
	var run []keyToken
	end := 0
	flush := func() {
		for i := range run {
			for n := 1; n <= 3 && i+n <= len(run); n++ {
				k.count(text, run[i:i+n], step)
			}
		}
		run = run[:0]
	}
	first := true
	scan(s, func(t token) {
		if strings.TrimSpace(s[end:t.at]) != "" {
			flush()
		}
		end = t.at + len(t.text)
		wasFirst := first
		first = false
		low := fold(t.text)
		ts := k.st.terms(t)
		if len(ts) == 0 || t.wide && len([]rune(t.text)) > 8 || stopWords[low] || auxiliary[low] || weak[low] {
			flush()
			return
		}
		if digit(t.text[0]) && (len(run) == 0 || len(t.text) > 6 || !capital(run[len(run)-1].surface)) { // "Python 3" is a phrase, "3" is none
			flush()
			return
		}
		surface := t.text
		if wasFirst && !identifierLike(surface) {
			surface = uncapital(surface)
		}
		surface = strings.TrimSuffix(strings.TrimSuffix(surface, "'s"), "’s")
		stem := ts[0].text
		if strings.ContainsAny(low, "-,") {
			stem = low
		}
		w := background(t, ts[0])
		run = append(run, keyToken{surface: surface, stem: stem, weight: w})
	})
	flush()
}

// weak are words that name nothing by themselves though they are no stop words.
var weak = set(`new version versions added changed first second third last next many single multiple various certain given particular possible able
	different following specific additional single large small default example examples value values used using use
	uses useful need needs want wants common usually typically simply easily currently automatically otherwise number
	numbers none true false null argument arguments parameter parameters raised called returned given required module
	modules class classes method methods function functions exception wait set sets way ways case cases time times part parts kind type types`)

func (k *keywordCounter) count(text int, run []keyToken, step float64) {
	if len(run) == 1 && len([]rune(run[0].surface)) < 2 {
		return
	}
	stems := make([]string, len(run))
	surfaces := make([]string, len(run))
	sum := 0.0
	for i, t := range run {
		stems[i], surfaces[i] = t.stem, t.surface
		sum += t.weight
	}
	key := strings.Join(stems, " ")
	c := k.found[key]
	if c == nil {
		c = &candidate{key: key, stems: stems, texts: map[int]bool{}, forms: map[string]int{}, weight: sum / float64(len(run))}
		k.found[key] = c
	}
	c.count += step
	c.texts[text] = true
	c.forms[strings.Join(surfaces, " ")]++
}

// score is the candidate's rank. A phrase counts more than its words when they mostly stand together.
func (k *keywordCounter) score(c *candidate) float64 {
	s := math.Log(1+c.count) * (1 + 0.5*math.Log(float64(len(c.texts)))) * c.weight
	if len(c.stems) == 1 {
		return s
	}
	rarest := math.Inf(1)
	for _, stem := range c.stems {
		if one := k.found[stem]; one != nil {
			rarest = min(rarest, one.count)
		}
	}
	if c.count < 2 || c.count < 0.25*rarest {
		return s * 0.4 // met by accident
	}
	return s * (1 + 0.5*float64(len(c.stems)-1))
}

func (k *keywordCounter) best(limit int) []string {
	all := make([]*candidate, 0, len(k.found))
	scores := make(map[*candidate]float64, len(k.found))
	for _, c := range k.found {
		all = append(all, c)
		scores[c] = k.score(c)
	}
	slices.SortFunc(all, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a.key, b.key))
	})
	var chosen []*candidate
	var out []string
	for _, c := range all {
		if len(out) >= limit {
			break
		}
		if slices.ContainsFunc(chosen, func(o *candidate) bool {
			return c.within(o) && c.count < 3*o.count || o.within(c) && o.count < 2*c.count || c.shares(o)
		}) {
			continue
		}
		chosen = append(chosen, c)
		out = append(out, c.form())
	}
	return out
}

// within reports that the stems of c stand in o in one piece.
func (c *candidate) within(o *candidate) bool {
	return strings.Contains(" "+o.key+" ", " "+c.key+" ")
}

// shares reports two phrases that differ by one word only at their ends: "garbage collector run", "the garbage
// collector".
func (c *candidate) shares(o *candidate) bool {
	if len(c.stems) < 2 || len(o.stems) < 2 {
		return false
	}
	n := 0
	for _, s := range c.stems {
		if slices.Contains(o.stems, s) {
			n++
		}
	}
	return n >= 2
}

// form is the most frequent written form; of equals the one that comes first.
func (c *candidate) form() string {
	best, n := "", 0
	for f, count := range c.forms {
		if count > n || count == n && f < best {
			best, n = f, count
		}
	}
	return best
}

// uncapital lower-cases the first letter of a word that begins a sentence, but not of acronyms.
func uncapital(s string) string {
	rs := []rune(s)
	if len(rs) < 2 || !unicode.IsUpper(rs[0]) || !unicode.IsLower(rs[1]) {
		return s
	}
	rs[0] = unicode.ToLower(rs[0])
	return string(rs)
}
