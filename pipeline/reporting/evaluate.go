package reporting

import (
	"cmp"
	"math"
	"strconv"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/checking"
)

// freshYears is the maximum age of a fresh source, in years before the run.
const freshYears = 3

// evaluate measures a draft and its verification without changing them. date: day of the run, YYYY-MM-DD.
func (a *writer) evaluate(d draft, v *checking.Verification, date string) checking.Evaluation {
	e := checking.Evaluation{Freshness: checking.Freshness{Years: freshYears}}
	e.Structure.Sections = len(d.sections)
	for _, s := range d.sections {
		words := report.Words(s.Blocks)
		e.Structure.LongestText = max(e.Structure.LongestText, words)
		if e.Structure.ShortestText == 0 || words < e.Structure.ShortestText {
			e.Structure.ShortestText = words
		}
		report.EachBlock(s.Blocks, func(b *report.Block) {
			if b.Kind == report.KindHeading {
				e.Structure.Headings++
			}
		})
	}
	var whole []report.Block
	removed, total := 0, 0
	for _, p := range d.parts() {
		whole = append(whole, p.Blocks...)
		for _, r := range p.Removed {
			if r.Reason != citation.ReasonMarkup { // a citation
				removed++
			}
		}
	}
	e.Structure.Words = report.Words(whole)
	used := map[string]int{} // uses of each citation id
	report.EachBlock(whole, func(b *report.Block) {
		if b.Citation != "" {
			used[b.Citation]++
			total++
		}
	})
	report.EachSentence(whole, func(s *report.Sentence) {
		for _, c := range s.Cites {
			used[c.ID]++
			total++
		}
	})
	e.CitationValidity = share(total, total+removed)
	e.SupportRate = share(v.Counts.Supported, v.Counts.Sentences)
	effective := map[string]bool{}
	for _, s := range v.Sentences {
		for _, id := range s.Citations {
			if _, cited := used[id]; cited && s.Verdict == support.Supported && s.Action != checking.ActionRemoved {
				effective[id] = true
			}
		}
	}
	if e.Structure.Words > 0 {
		e.EffectiveCitations = math.Round(10_000*float64(len(effective))/float64(e.Structure.Words)) / 10
	}
	a.coverage(&e, used)
	a.sourcesOf(&e, report.Cited(whole), used, total, date)
	e.Redundancy = redundancy(whole)
	return e
}

// coverage measures the shares of blocks and claims that the citations cover.
func (a *writer) coverage(e *checking.Evaluation, used map[string]int) {
	blocks, covered, told := map[string]bool{}, map[string]bool{}, 0
	for _, b := range a.blocks {
		blocks[b.id] = true
	}
	for _, c := range a.claims {
		if used[c.CitationID] > 0 {
			told++
			covered[c.Block] = true
		}
	}
	delete(blocks, backgroundID)
	for _, g := range a.gaps { // planned blocks without evidence
		blocks[g.BlockID] = true
	}
	delete(covered, backgroundID)
	e.PlanCoverage, e.ClaimCoverage = share(len(covered), len(blocks)), share(told, len(a.claims))
}

// sourcesOf measures the diversity and freshness of the cited sources.
func (a *writer) sourcesOf(e *checking.Evaluation, cited []string, used map[string]int, total int, date string) {
	documents, domains := map[string]bool{}, map[string]int{}
	fresh := 0
	for _, id := range cited {
		t, ok := a.registry.Lookup(id)
		if !ok {
			continue
		}
		s := t.Source
		document := claim{Source: s}.Document()
		domains[cmp.Or(s.Domain, document)] += used[id]
		if documents[document] {
			continue
		}
		documents[document] = true
		if year := yearOf(s.Date); year > 0 {
			e.Freshness.Dated++
			if yearOf(date)-year <= freshYears {
				fresh++
			}
		}
	}
	e.Freshness.Share = share(fresh, e.Freshness.Dated)
	e.Diversity = checking.Diversity{Documents: len(documents), Domains: len(domains)}
	for _, n := range domains {
		e.Diversity.LargestShare = max(e.Diversity.LargestShare, share(n, total))
	}
}

// yearOf returns the year of a date YYYY-MM-DD, or 0.
func yearOf(date string) int {
	if len(date) < 4 {
		return 0
	}
	year, _ := strconv.Atoi(date[:4]) // 0 for an invalid date
	return year
}

// redundancy returns the share of sentences that repeat an earlier one.
func redundancy(blocks []report.Block) float64 {
	said := map[string]bool{}
	all, again := 0, 0
	for _, s := range report.Statements(blocks) {
		if key := report.Key(s.Text()); !s.IsRow() && report.Repeatable(key) {
			all++
			if said[key] {
				again++
			}
			said[key] = true
		}
	}
	return share(again, all)
}

// share returns n/all rounded to thousandths, or 0 if all is not positive.
func share(n, all int) float64 {
	if all <= 0 {
		return 0
	}
	return math.Round(1000*float64(n)/float64(all)) / 1000
}
