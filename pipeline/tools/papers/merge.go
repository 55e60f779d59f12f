package papers

import (
	"cmp"
	"slices"
	"strings"
)

// fused is the constant of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009). It sets how much less the first
// place in one list counts than good places in several lists.
const fused = 60

// authority orders providers by the quality of their data, starting with data from publishers.
var authority = []string{Crossref, EuropePMC, OpenAlex, SemanticScholar, ArXiv}

// record is one entry of an answer.
type record struct {
	Paper
	provider string
	rank     int // from 1
}

// Merge combines the answers into one list, best first. Entries are the same work if they share a DOI, an arXiv ID or a
// PubMed ID. They are also the same work if they have the same title and first author, their years differ by at most
// one, and their IDs do not conflict. Works are ranked by reciprocal rank fusion, with retracted works last. The order
// of the answers does not matter.
func Merge(answers []Answer) []Paper {
	groups := grouped(records(answers))
	type ranked struct {
		Paper
		score int
	}
	works := make([]ranked, len(groups))
	for i, g := range groups {
		works[i] = ranked{combine(g), score(g)}
	}
	slices.SortStableFunc(works, func(a, b ranked) int {
		if a.Retracted != b.Retracted {
			if b.Retracted {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.CitedBy, a.CitedBy), cmp.Compare(b.Date, a.Date),
			cmp.Compare(a.Title, b.Title), cmp.Compare(a.URL, b.URL))
	})
	papers := make([]Paper, len(works))
	for i, w := range works {
		papers[i] = w.Paper
	}
	return papers
}

// records returns all entries ordered by provider and rank.
func records(answers []Answer) []record {
	answers = slices.Clone(answers)
	slices.SortStableFunc(answers, func(a, b Answer) int { return cmp.Compare(a.Provider, b.Provider) })
	var all []record
	for _, a := range answers {
		for i, p := range a.Papers {
			all = append(all, record{p, a.Provider, i + 1})
		}
	}
	return all
}

// grouped returns the records of each work. A record joins all groups that it shares an ID with, or the first one that
// looks like it.
func grouped(all []record) [][]record {
	var groups [][]record
	for _, r := range all {
		work := []record{r}
		groups = slices.DeleteFunc(groups, func(g []record) bool {
			same := slices.ContainsFunc(g, func(m record) bool {
				return slices.ContainsFunc(m.ids(), func(id string) bool { return slices.Contains(r.ids(), id) })
			})
			if same {
				work = append(g, work...)
			}
			return same
		})
		if at := slices.IndexFunc(groups, func(g []record) bool { return alike(g, work) }); at >= 0 {
			work = append(groups[at], work...)
			groups = slices.Delete(groups, at, at+1)
		}
		groups = append(groups, work)
	}
	return groups
}

// look returns the normalized title and first author for comparison, or "" if they are too unspecific, as in
// "Editorial".
func (r record) look() string {
	title := fold(r.Title)
	if len(r.Authors) == 0 || r.year() == 0 || len(strings.Fields(title)) < 3 || len(title) < 15 {
		return ""
	}
	return title + "\n" + surname(r.Authors[0])
}

// alike reports whether two groups can be the same work: they have a look in common, and no conflicting IDs.
func alike(group, other []record) bool {
	near := slices.ContainsFunc(group, func(m record) bool {
		return slices.ContainsFunc(other, func(r record) bool {
			d := m.year() - r.year()
			return m.look() != "" && m.look() == r.look() && d >= -1 && d <= 1
		})
	})
	return near && !conflict(group, other, func(m record) string {
		if m.Kind == KindPreprint {
			return ""
		}
		return m.DOI
	}) && !conflict(group, other, func(m record) string {
		return m.ArXiv
	}) && !conflict(group, other, func(m record) string { return m.PMID })
}

// conflict reports whether both groups have IDs of one kind but none in common.
func conflict(a, b []record, id func(record) string) bool {
	ids := func(g []record) (out []string) {
		for _, m := range g {
			if s := id(m); s != "" {
				out = append(out, s)
			}
		}
		return out
	}
	left, right := ids(a), ids(b)
	return len(left) > 0 && len(right) > 0 && !slices.ContainsFunc(left, func(s string) bool {
		return slices.Contains(right, s)
	})
}

// score returns the sum of the values of a work's best rank in each list.
func score(group []record) (sum int) {
	best := map[string]int{}
	for _, r := range group {
		if n, ok := best[r.provider]; !ok || r.rank < n {
			best[r.provider] = r.rank
		}
	}
	for _, rank := range best {
		sum += 1_000_000_000 / (fused + rank) // integer sums do not depend on the order
	}
	return sum
}

// combine merges the records of a work into one paper. Data of the published version comes first.
func combine(group []record) Paper {
	group = slices.Clone(group)
	slices.SortStableFunc(group, func(a, b record) int {
		return cmp.Or(cmp.Compare(preprint(a), preprint(b)), cmp.Compare(slices.Index(authority, a.provider),
			slices.Index(authority, b.provider)), cmp.Compare(a.rank, b.rank))
	})
	p := Paper{}
	for _, r := range group {
		p.Title, p.Venue, p.Date = cmp.Or(p.Title, r.Title), cmp.Or(p.Venue, r.Venue), cmp.Or(p.Date, r.Date)
		p.ArXiv, p.PMID, p.PMCID = cmp.Or(p.ArXiv, r.ArXiv), cmp.Or(p.PMID, r.PMID), cmp.Or(p.PMCID, r.PMCID)
		p.URL, p.PDF, p.Kind = cmp.Or(p.URL, r.URL), cmp.Or(p.PDF, r.PDF), cmp.Or(p.Kind, r.Kind)
		p.CitedBy, p.Retracted = max(p.CitedBy, r.CitedBy), p.Retracted || r.Retracted
		if len(r.Authors) > len(p.Authors) {
			p.Authors = r.Authors
		}
		if len(r.Date) > len(p.Date) && strings.HasPrefix(r.Date, p.Date) {
			p.Date = r.Date
		}
		for _, doi := range append([]string{r.DOI}, r.OtherDOIs...) {
			if p.addDOI(doi); !slices.Contains(p.ListedBy, r.provider) {
				p.ListedBy = append(p.ListedBy, r.provider)
			}
		}
	}
	p.Abstract = abstract(group)
	if p.ArXiv != "" {
		p.PDF = "https://arxiv.org/pdf/" + p.ArXiv // never behind a paywall
	}
	slices.Sort(p.ListedBy)
	slices.Sort(p.OtherDOIs)
	p.OtherDOIs = slices.Compact(p.OtherDOIs)
	p.URL = p.landing()
	return p
}

func preprint(r record) int {
	if r.Kind == KindPreprint {
		return 1
	}
	return 0
}

// abstract returns the best abstract, from the published version if it has one. Among those with at least 80 % of the
// longest one's length, it takes the most trusted. group: ordered as in combine.
func abstract(group []record) string {
	for version := range 2 {
		longest, text := 0, ""
		for _, r := range group {
			if preprint(r) == version {
				longest = max(longest, len(r.Abstract))
			}
		}
		for _, r := range group {
			if preprint(r) == version && text == "" && r.Abstract != "" && len(r.Abstract)*5 >= longest*4 {
				text = r.Abstract
			}
		}
		if text != "" {
			return text
		}
	}
	return ""
}
