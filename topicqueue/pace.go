package topicqueue

import "time"

// Pace is how fast a desk works, and how much it has to do by the time that a run is due.
type Pace struct {
	Left      time.Duration // until the run takes no more research; below 0: no limit
	Iteration time.Duration // that one iteration of a block has taken on the average; 0: not known
	Slots     int           // of all workers
	Runs      int           // that have not ended, this one included
}

// iterations is how many each run may have in all, with one for its plan and one for what it waits for in between;
// below 0: any number.
func (p Pace) iterations() int {
	if p.Left < 0 || p.Iteration <= 0 || p.Slots < 1 || p.Runs < 1 {
		return -1
	}
	return max(0, int(float64(p.Left)/float64(p.Iteration)*float64(p.Slots)/float64(p.Runs))-2)
}

// Depth returns how many iterations each of so many blocks may have for all runs to be ready in time: at most most, at
// least one.
func (p Pace) Depth(blocks, most int) int {
	if n := p.iterations(); n >= 0 {
		return max(1, min(most, n/max(1, blocks)))
	}
	return most
}

// Breadth returns how many blocks there is time for, one iteration each: at most most, at least one.
func (p Pace) Breadth(most int) int {
	if n := p.iterations(); n >= 0 {
		return max(1, min(most, n))
	}
	return most
}
