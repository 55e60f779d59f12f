package researching

import (
	"cmp"
	"slices"

	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// Limits of the findings that one iteration shares with other blocks, and of those shown in their prompts.
const (
	maxFindings   = 4     // per iteration
	maxFinding    = 240   // bytes per finding
	maxRead       = 30    // addresses and document keys per iteration
	parentBytes   = 3_000 // bytes of findings of the parent block
	parentSources = 60    // sources read by the parent block
)

// Limits of the findings of other blocks in the decide prompt, in bytes. They are part of every prompt.
const (
	ledgerShare = 100    // divisor of the model's window, at 4 bytes per token
	mostLedger  = 2_000  // for any window
	usualWindow = 32_768 // tokens, if the window is unknown
)

// ledgerBytes returns the maximum size of other blocks' findings in a prompt.
func (w *work) ledgerBytes() int { return min(mostLedger, 4*cmp.Or(w.Window, usualWindow)/ledgerShare) }

// digest returns the summary of an iteration for the other blocks. It takes the most relevant claim of each source
// first.
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

// sourceLine describes a source for other blocks. A page has its address, which they may open. Program output is named
// by its purpose.
func sourceLine(s topicqueue.Source) string {
	if s.Stored() {
		return place(s)
	}
	return s.Name()
}

// parent returns the newest findings of the parent block that fit, and the sources that it read.
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

// ledger returns findings of the other blocks, up to limit bytes, grouped by block. It takes them in turn, one of each
// block, from its newest iteration first.
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
