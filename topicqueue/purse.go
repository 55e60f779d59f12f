package topicqueue

// Values of Run.Cuts: the cuts of a run by a budget or a deadline.
const (
	CutReview     = "review"     // no review for gaps
	CutIterations = "iterations" // fewer iterations than allowed
	CutBlocks     = "blocks"     // fewer sub-topics, or some not researched
	CutTime       = "time"       // fewer sub-topics or iterations, so that all runs finish in time
	CutReport     = "report"     // parts of the report are shorter, or not written by the model
	CutCheck      = "check"      // sentences of the report were not judged by the model
	CutAudio      = "audio"      // the report is not read aloud, or its script was not written by a model
)

// Purse is the budget state of a run. Amounts are in the unit of the budget.
type Purse struct {
	Limit    int64 // limit of the whole run; 0: none
	Spent    int64
	Evidence int // total length in bytes of the statements of its claims
	Blocks   []BlockPurse
}

// BlockPurse is the share of one block.
type BlockPurse struct {
	Begun, Ended bool
	Iterations   int   // checkpointed iterations
	Spent        int64 // including the iteration under way
	UnderWay     bool  // calls of the next iteration have been answered
}

// Estimate is the expected cost of parts of a run.
type Estimate struct {
	Iteration int64   // one iteration of a block, used until there is experience
	Report    int64   // report from the present evidence
	PerByte   float64 // additional report cost per byte of evidence
}

// headroom allows for the next iteration to cost more than those before, because its questions are longer.
const headroom = 1.15

// iteration returns the expected cost of one iteration and of the report text for its evidence. It uses the
// experience of block n, else of all blocks, else the estimate. n counts from 1; 0 means all blocks.
func (p Purse) iteration(n int, e Estimate) float64 {
	spent, done := int64(0), 0.0
	own := n > 0 && p.Blocks[n-1].Iterations > 0
	for i, b := range p.Blocks {
		if b.Iterations == 0 || own && i+1 != n {
			continue
		}
		spent, done = spent+b.Spent, done+float64(b.Iterations)
		if b.UnderWay {
			done += 0.5
		}
	}
	cost := float64(e.Iteration)
	if done > 0 && spent > 0 {
		cost = headroom * float64(spent) / done
	}
	total := 0
	for _, b := range p.Blocks {
		total += b.Iterations
	}
	if total > 0 {
		cost += e.PerByte * float64(p.Evidence) / float64(total)
	}
	return cost
}

// left returns the amount that research may still spend.
func (p Purse) left(e Estimate) float64 { return float64(p.Limit - p.Spent - e.Report) }

// level returns the cost of bringing every block to k iterations. A block that has begun does at least one more
// iteration. waiting includes blocks that have not begun. but is a block to leave out, counted from 1; 0: none.
func (p Purse) level(k int, cost float64, waiting bool, but int) float64 {
	need := 0.0
	for i, b := range p.Blocks {
		if b.Ended || !b.Begun && !waiting || i+1 == but {
			continue
		}
		target := b.Iterations
		if b.Begun {
			target++
		}
		if target = max(target, k); target > b.Iterations {
			need += max(0, float64(target)*cost-max(float64(b.Spent), float64(b.Iterations)*cost))
		}
	}
	return need
}

// MayIterate reports whether the budget allows iteration k of block n (from 1). Breadth comes before depth: the
// remainder must also bring every other block to k-1 iterations. For a first iteration only blocks that have begun
// count, because the others come later or not at all. An iteration under way is always finished.
func (p Purse) MayIterate(n, k int, e Estimate) bool {
	if p.Limit == 0 || n < 1 || n > len(p.Blocks) || p.Blocks[n-1].UnderWay {
		return true
	}
	cost := p.iteration(n, e)
	return cost+p.level(k-1, cost, k > 1, n) <= p.left(e)
}

// Room returns how many more blocks the budget allows after the existing blocks have all their iterations; below 0:
// any number.
func (p Purse) Room(iterations int, e Estimate) int {
	if p.Limit == 0 {
		return -1
	}
	cost := p.iteration(0, e)
	spare := p.left(e) - p.level(iterations, cost, true, 0)
	if spare <= 0 || cost <= 0 {
		return 0
	}
	return int(spare / (cost * float64(iterations)))
}

// Rest returns the expected cost of bringing all blocks to the given number of iterations and writing the report.
// With 0 iterations, blocks that have begun only finish their current iteration.
func (p Purse) Rest(iterations int, e Estimate) int64 {
	return int64(p.level(iterations, p.iteration(0, e), iterations > 0, 0)) + e.Report
}

// Block returns the expected cost of one more block.
func (p Purse) Block(iterations int, e Estimate) int64 {
	return int64(p.iteration(0, e) * float64(iterations))
}
