package formats

import (
	"strings"

	"nightdesk/pipeline/text"
)

// Check is the result of the check of one sentence of the report.
type Check struct {
	Sentence string // Markdown as in the report, without citations; the cells of a table row
	Verdict  Verdict
	Number   int // number of the checked sentence, from 1; 0: unknown
}

// Verdict says how well a sentence is confirmed.
type Verdict int

// Verdicts.
const (
	Unmarked    Verdict = iota // no citation
	Confirmed                  // by the words of a source
	Conclusion                 // the report's own conclusion
	Unconfirmed                // unknown
	Unsupported                // not stated by the sources
)

// classes are the CSS classes of verdicts.
var classes = map[Verdict]string{Confirmed: "v-ok", Conclusion: "v-own", Unconfirmed: "v-open", Unsupported: "v-bad"}

// maxAhead is the number of pending sentences to look for in a paragraph. Sentences appear in the order of the report.
const maxAhead = 60

// placeChecks sets the verdicts of the runs of checked sentences. Sentences that are not found stay unmarked.
func (d *document) placeChecks() {
	d.place(d.Checks, func(x *run, c Check) { x.verdict, x.checked = c.Verdict, c.Number })
	news := make([]Check, len(d.News))
	for i, s := range d.News {
		news[i] = Check{Sentence: s, Verdict: Confirmed}
	}
	d.place(news, func(x *run, c Check) { x.news = c.Verdict != Unmarked })
}

// place finds sentences in the report, in order, and calls mark for the runs of each.
func (d *document) place(checks []Check, mark func(*run, Check)) {
	open := make([]Check, 0, len(checks))
	for _, c := range checks {
		if c.Sentence = plainOf(c.Sentence); c.Sentence != "" {
			open = append(open, c)
		}
	}
	eachBlock(d.blocks, func(b *block) {
		if len(open) == 0 || b.anchor != "" && b.kind == paragraph { // an entry of the references
			return
		}
		if b.kind == paragraph {
			b.runs = placeIn(b.runs, &open, mark)
		}
		for i := range b.rows {
			b.rows[i].place(&open, mark)
		}
	})
}

// plainOf returns the visible text of a sentence.
func plainOf(markdown string) string {
	d, err := read(Report{Markdown: markdown})
	if err != nil {
		return ""
	}
	var words []string
	eachBlock(d.blocks, func(b *block) {
		words = append(words, plainText(b.runs))
		for _, cells := range cellsOf(b) {
			words = append(words, plainText(cells))
		}
	})
	return text.Line(strings.Join(words, " "))
}

// place sets the verdict of a row if its cells match a sentence.
func (r row) place(open *[]Check, mark func(*run, Check)) {
	said := make([]string, len(r))
	for i, c := range r {
		_, said[i], _ = saidIn(c.runs)
	}
	whole := text.Line(strings.Join(said, " | "))
	for i, c := range (*open)[:min(len(*open), maxAhead)] {
		if strings.Trim(whole, " |") == strings.Trim(c.Sentence, " |") {
			for _, cell := range r {
				for j := range cell.runs {
					if x := &cell.runs[j]; x.cited == "" {
						mark(x, c)
					}
				}
			}
			*open = append((*open)[:i:i], (*open)[i+1:]...)
			return
		}
	}
}

// placeIn sets the verdicts of a paragraph's runs, and splits runs at sentence boundaries.
func placeIn(runs []run, open *[]Check, mark func(*run, Check)) []run {
	said, folded, at := saidIn(runs)
	verdicts := make([]Check, len(said)+1) // by byte of said
	var left []Check
	for i, c := range *open {
		from := -1
		if i < maxAhead {
			from = unmarked(folded, c.Sentence, verdicts, at)
		}
		if from < 0 {
			left = append(left, c)
			continue
		}
		for n := at[from]; n < at[from+len(c.Sentence)-1]+1; n++ {
			verdicts[n] = Check{Verdict: c.Verdict, Number: c.Number}
		}
	}
	*open = left
	var out []run
	done := 0
	for _, x := range runs {
		if x.cited != "" || x.figure != nil {
			out = append(out, x)
			continue
		}
		for start := 0; start < len(x.text) || start == 0; {
			end := start
			for end < len(x.text) && verdicts[done+end] == verdicts[done+start] {
				end++
			}
			piece := x
			piece.text, piece.broken = x.text[start:end], x.broken && end == len(x.text)
			mark(&piece, verdicts[done+start])
			out = append(out, piece)
			if start = end; start == 0 {
				break
			}
		}
		if done += len(x.text); x.broken {
			done++
		}
	}
	return out
}

// unmarked returns the position of a sentence that has no verdict yet, or -1.
func unmarked(folded, sentence string, verdicts []Check, at []int) int {
	for from := 0; ; from++ {
		n := strings.Index(folded[from:], sentence)
		if n < 0 {
			return -1
		}
		if from += n; verdicts[at[from]].Verdict == Unmarked {
			return from
		}
	}
}

// saidIn returns the text of runs, unchanged and folded, and for each byte of the folded text its position in the
// unchanged one. Folding normalizes white space and removes it before citations.
func saidIn(runs []run) (said, folded string, at []int) {
	var out []byte
	for _, x := range runs {
		if x.cited != "" {
			for len(out) > 0 && out[len(out)-1] == ' ' {
				out, at = out[:len(out)-1], at[:len(at)-1]
			}
			continue
		}
		if x.broken {
			x.text += " "
		}
		for i := range len(x.text) {
			c := x.text[i]
			if c == '\n' || c == '\t' {
				c = ' '
			}
			if c != ' ' || len(out) > 0 && out[len(out)-1] != ' ' {
				out, at = append(out, c), append(at, len(said)+i)
			}
		}
		said += x.text
	}
	return said, string(out), at
}
