package support

import (
	"slices"
	"strings"
)

// window is one to three units in a row.
type window struct {
	text        *text
	first, last int // units
	covered     map[int]bool
	share       float64 // weight of the sentence's content words that stand there
}

// best returns the window that has most of the sentence's content words, the shortest and first of equal ones.
func (t *text) best(s *statement) window {
	masks := map[int]map[int]bool{} // by unit: indexes of terms
	for i, term := range s.terms {
		for _, u := range t.postings[term.text] {
			if masks[u] == nil {
				masks[u] = map[int]bool{}
			}
			masks[u][i] = true
		}
	}
	best := window{text: t, first: -1}
	units := make([]int, 0, len(masks))
	for u := range masks {
		units = append(units, u)
	}
	slices.Sort(units)
	for _, u := range units {
		covered := map[int]bool{}
		for length := range 3 {
			if u+length >= len(t.units) {
				break
			}
			for i := range masks[u+length] {
				covered[i] = true
			}
			if masks[u+length] == nil && length > 0 {
				continue
			}
			// A further sentence must bring more than a common word.
			if share := s.share(covered, t); share > best.share+0.04*float64(length)+1e-9 {
				best = window{text: t, first: u, last: u + length, share: share, covered: copyOf(covered)}
			}
		}
	}
	return best
}

func copyOf(m map[int]bool) map[int]bool {
	out := make(map[int]bool, len(m))
	for k := range m {
		out[k] = true
	}
	return out
}

// span returns the bytes of a window, without the white space around it.
func (w window) span() (start, end int) {
	if w.first < 0 {
		return 0, 0
	}
	start, end = w.text.units[w.first].start, w.text.units[w.last].end
	part := w.text.Text[start:end]
	end = start + len(strings.TrimRight(part, " \t\r\n"))
	start += len(part) - len(strings.TrimLeft(part, " \t\r\n"))
	return start, max(start, end)
}

// windows returns the best window of each source that has one.
func (s *statement) windows(texts []*text) []window {
	var out []window
	for _, t := range texts {
		if w := t.best(s); w.first >= 0 {
			out = append(out, w)
		}
	}
	return out
}

// leading returns the best of the windows; its first is -1 when there is none.
func leading(ws []window) window {
	best := window{first: -1}
	for _, w := range ws {
		if best.first < 0 || w.share > best.share {
			best = w
		}
	}
	return best
}

// joint is the share of the sentence that the windows of all sources have together.
func joint(s *statement, ws []window) float64 {
	best, all := 0.0, map[int]bool{}
	for _, w := range ws {
		best = max(best, w.share)
		for i := range w.covered {
			all[i] = true
		}
	}
	if len(ws) > 1 {
		sum := 0.0
		for i := range all {
			sum += s.terms[i].weight
		}
		if s.weight > 0 {
			best = max(best, sum/s.weight)
		}
	}
	return float64(int(best*1000+0.5)) / 1000
}

// titles is the share of the sentence that the titles and headings of the sources have.
func (s *statement) titles(texts []*text) float64 {
	best := 0.0
	for _, t := range texts {
		sum := 0.0
		for _, term := range s.terms {
			if t.aboutTerms[term.text] {
				sum += term.weight * aboutShare
			}
		}
		if s.weight > 0 {
			best = max(best, sum/s.weight)
		}
	}
	return float64(int(best*1000+0.5)) / 1000
}

// bearing returns the sources that have a quantity of the sentence or a good part of its words.
func (s *statement) bearing(ws []window, places []finding) []string {
	var ids []string
	for _, w := range ws {
		has := w.share >= enoughExact
		for _, f := range places {
			has = has || f.text == w.text
		}
		if has || len(ws) == 1 {
			ids = append(ids, w.text.ID)
		}
	}
	if len(ids) == 0 && len(ws) > 0 {
		ids = []string{leading(ws).text.ID}
	}
	return ids
}

func strongest(places []finding, lead window) finding {
	for _, f := range places {
		if f.text == lead.text && f.unit >= lead.first && f.unit <= lead.last {
			return finding{}
		}
	}
	for _, f := range places {
		if f.unit >= 0 && f.text != nil {
			return f
		}
	}
	return finding{}
}
