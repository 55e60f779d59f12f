package topicqueue

// What a budget, or a deadline, has cut from a run: Run.Cuts.
const (
	CutReview     = "review"     // no look for gaps
	CutIterations = "iterations" // blocks were looked at less long than they may be
	CutBlocks     = "blocks"     // fewer sub-topics, or some not researched
	CutTime       = "time"       // fewer sub-topics or iterations, so that all runs are ready in time
	CutReport     = "report"     // parts of the report are shorter, or not written by the model
	CutCheck      = "check"      // sentences of the report were not judged by the model
	CutAudio      = "audio"      // the report is not read aloud, or by a script that no model wrote
)

// Purse is where a run stands with its budget. Amounts are in the unit of the budget.
type Purse struct {
	Limit    int64 // of the whole run; 0 = none
	Spent    int64
	Evidence int // bytes that the statements of its blocks' claims have
	Blocks   []BlockPurse
}

// BlockPurse is the part of one block.
type BlockPurse struct {
	Begun, Ended bool
	Iterations   int   // checkpointed
	Spent        int64 // on the block, the iteration that is under way included
	UnderWay     bool  // calls of the next iteration have been answered
}

// Estimate is what parts of a run will probably cost.
type Estimate struct {
	Iteration int64   // of a block, while there is no experience
	Report    int64   // from the evidence that there is
	PerByte   float64 // what one more byte of evidence adds to the report
}

// headroom is what the next iteration may cost more than those before: its questions are longer.
const headroom = 1.15

// iteration is what one iteration costs, with what its evidence costs the report: by the experience of the block n,
// else of all blocks, else by the estimate. n counts from 1; 0: of all.
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

// left is what research may still spend.
func (p Purse) left(e Estimate) float64 { return float64(p.Limit - p.Spent - e.Report) }

// level is what it takes to bring blocks to k iterations each, those that are under way counted as done in full.
// waiting: blocks that have not begun, too. but: a block that is left out, from 1; 0: none.
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

// MayIterate reports whether the budget allows block n (from 1) its iteration k. All blocks come before one of them
// goes deeper: a further iteration is allowed when enough is left for every other block to come as far as this one is.
// Before a first one only those that have begun count: what waits comes later or not at all. An iteration that was
// begun is brought to its end.
func (p Purse) MayIterate(n, k int, e Estimate) bool {
	if p.Limit == 0 || n < 1 || n > len(p.Blocks) || p.Blocks[n-1].UnderWay {
		return true
	}
	cost := p.iteration(n, e)
	return cost+p.level(k-1, cost, k > 1, n) <= p.left(e)
}

// Room returns how many more blocks the budget allows when all that there are have their iterations; below 0: any
// number.
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

// Rest is what it will probably take to bring all blocks to so many iterations and write the report. 0: only what is
// under way is brought to its end.
func (p Purse) Rest(iterations int, e Estimate) int64 {
	return int64(p.level(iterations, p.iteration(0, e), iterations > 0, 0)) + e.Report
}

// Block is what one more block will probably take.
func (p Purse) Block(iterations int, e Estimate) int64 {
	return int64(p.iteration(0, e) * float64(iterations))
}
