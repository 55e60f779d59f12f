package researching

import (
	"cmp"
	"slices"

	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// Limits of the findings that one iteration shares with other blocks.
const (
	maxFindings = 12
	maxFinding  = 240 // bytes
)

// ledgerShare is the divisor of the model's window for the findings of other blocks, which are part of every decide
// prompt. A window of 128,000 tokens has room for about 50 of them.
const ledgerShare = 64

// ledgerBytes returns the maximum size of other blocks' findings in a prompt.
func (w *work) ledgerBytes() int { return WindowBytes(w.Window) / ledgerShare }

// usualWindow is the assumed context window of a model, in tokens, if it is unknown.
const usualWindow = 32_768

// WindowBytes returns the size of English text, at 4 bytes per token, that a window of this many tokens holds; 0: the
// window is unknown.
func WindowBytes(tokens int) int { return 4 * cmp.Or(tokens, usualWindow) }

// digest returns the summary of an iteration for the other blocks. It takes the most relevant claim of each source
// first.
func (a *assignment) digest(traces []topicqueue.ToolTrace) topicqueue.Digest {
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
					Source: topicqueue.Clip(sourceLine(t.Source), maxLine), Block: c.Block,
				})
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

// ledger returns findings of the other blocks, up to limit bytes, grouped by block: the block that this one continues
// first. It takes them in turn, one of each block, those about this block first and then those of the newest iteration.
func ledger(v topicqueue.View, block topicqueue.Block, limit int) (others []prompts.OtherBlock) {
	newest, claims := map[string][]topicqueue.Finding{}, map[string]int{}
	for _, d := range slices.Backward(v.Ledger) {
		newest[d.Block] = append(newest[d.Block], d.Findings...)
		claims[d.Block] += max(d.Claims, len(d.Findings))
	}
	first := func(b bool) int { return map[bool]int{true: -1}[b] }
	blocks := slices.SortedStableFunc(slices.Values(v.Blocks), func(a, b topicqueue.BlockTitle) int {
		return first(a.ID == block.Parent) - first(b.ID == block.Parent)
	})
	for id := range newest {
		slices.SortStableFunc(newest[id], func(a, b topicqueue.Finding) int {
			return first(a.Block == block.ID) - first(b.Block == block.ID)
		})
	}
	taken := map[string]int{}
	for more := true; more; {
		more = false
		for _, b := range blocks {
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
	for _, b := range blocks {
		if claims[b.ID] == 0 {
			continue
		}
		other := prompts.OtherBlock{ID: b.ID, Left: claims[b.ID] - taken[b.ID]}
		for _, f := range newest[b.ID][:taken[b.ID]] {
			other.Claims = append(other.Claims, prompts.ClaimLine{CitationID: f.CitationID, Text: f.Text, Source: f.Source})
		}
		other.Claims = bySource(other.Claims)
		others = append(others, other)
	}
	return others
}
