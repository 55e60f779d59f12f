package researching

import (
	"cmp"
	"slices"

	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// How much one iteration tells the other blocks, and how much of it their questions show.
const (
	maxFindings   = 4     // of an iteration
	maxFinding    = 240   // bytes of one
	maxRead       = 30    // addresses and document keys of an iteration
	parentBytes   = 3_000 // of what the block has found that led to this one
	parentSources = 60    // that it has read
)

// What decide shows of what other blocks have found, in bytes: it stands in every question.
const (
	ledgerShare = 100    // of the model's window, at 4 bytes a token
	mostLedger  = 2_000  // in any window
	usualWindow = 32_768 // tokens, where it is not known
)

// ledgerBytes is how much of what other blocks have found a question has room for.
func (w *work) ledgerBytes() int { return min(mostLedger, 4*cmp.Or(w.Window, usualWindow)/ledgerShare) }

// digest is what iteration k tells the other blocks: of each source the claim that bears most on the block first.
func (a *assignment) digest(traces []topicqueue.ToolTrace, outcomes []outcome) topicqueue.Digest {
	var d topicqueue.Digest
	claims := make([][]topicqueue.Claim, len(traces))
	most := 0
	for i, t := range traces {
		d.Claims += len(t.Claims)
		claims[i] = slices.SortedStableFunc(slices.Values(t.Claims), func(c, d topicqueue.Claim) int {
			return cmp.Compare(text.Coverage(d.Text, a.question()), text.Coverage(c.Text, a.question()))
		})
		most = max(most, len(claims[i]))
	}
	for round := range most {
		for i, t := range traces {
			if round < len(claims[i]) && len(d.Findings) < maxFindings {
				c := claims[i][round]
				d.Findings = append(d.Findings, topicqueue.Finding{
					CitationID: c.CitationID, Text: topicqueue.Clip(topicqueue.OneLine(c.Text), maxFinding),
					Source: topicqueue.Clip(sourceLine(t.Source), maxLine),
				})
			}
		}
	}
	for _, o := range outcomes {
		for _, s := range o.fresh {
			where := cmp.Or(s.URL, s.Document)
			if where != "" && len(where) <= maxLine && !slices.Contains(d.Read, where) && len(d.Read) < maxRead {
				d.Read = append(d.Read, where)
			}
		}
	}
	return d
}

// sourceLine names a source for other blocks, a page with its address, which they may open; the output of a program by
// what the program is for.
func sourceLine(s topicqueue.Source) string {
	if s.Stored() {
		return place(s)
	}
	return s.Name()
}

// parent returns what the block has found and read that led to this one: the newest findings that fit.
func parent(v topicqueue.View, b topicqueue.Block, limit, sources int) (findings []prompts.ClaimLine, read []string) {
	if b.Parent == "" {
		return nil, nil
	}
	var lines []topicqueue.Finding
	for _, d := range v.Ledger {
		if d.Block != b.Parent {
			continue
		}
		lines = append(lines, d.Findings...)
		for _, where := range d.Read {
			if !slices.Contains(read, where) {
				read = append(read, where)
			}
		}
	}
	for _, f := range slices.Backward(lines) {
		if limit -= len(f.Text) + len(f.Source); limit < 0 {
			break
		}
		findings = append(findings, claimLine(f))
	}
	slices.Reverse(findings)
	return bySource(findings), lastOf(read, sources)
}

// ledger returns what the other blocks have found as far as it fits: of each in turn the best of its newest iteration,
// then of the one before; shown block by block.
func ledger(v topicqueue.View, block topicqueue.Block, limit int) []prompts.OtherBlock {
	newest, claims := map[string][]topicqueue.Finding{}, map[string]int{}
	for _, d := range slices.Backward(v.Ledger) {
		if d.Block != block.Parent {
			newest[d.Block] = append(newest[d.Block], d.Findings...)
			claims[d.Block] += max(d.Claims, len(d.Findings))
		}
	}
	taken := map[string]int{}
	for more := true; more; {
		more = false
		for _, b := range v.Blocks {
			if taken[b.ID] == len(newest[b.ID]) {
				continue
			}
			f := newest[b.ID][taken[b.ID]]
			if limit -= len(f.Text) + len(f.Source); limit < 0 {
				more = false
				break
			}
			taken[b.ID]++
			more = true
		}
	}
	var others []prompts.OtherBlock
	for _, b := range v.Blocks {
		if claims[b.ID] == 0 {
			continue
		}
		other := prompts.OtherBlock{ID: b.ID, Left: claims[b.ID] - taken[b.ID]}
		for _, f := range newest[b.ID][:taken[b.ID]] {
			other.Claims = append(other.Claims, claimLine(f))
		}
		other.Claims = bySource(other.Claims)
		others = append(others, other)
	}
	return others
}

func claimLine(f topicqueue.Finding) prompts.ClaimLine {
	return prompts.ClaimLine{CitationID: f.CitationID, Text: f.Text, Source: f.Source}
}
