package topicqueue

import "time"

// Pace is the speed of all workers together, and their work until a run is due.
type Pace struct {
	Left      time.Duration // time until the run takes no more research; below 0: no limit
	Iteration time.Duration // average duration of one iteration; 0: unknown
	Slots     int           // slots of all workers
	Runs      int           // runs that have not ended, this one included
}

// iterations returns the number of iterations available to each run, minus one for its plan and one for waits in
// between; below 0: any number.
func (p Pace) iterations() int {
	if p.Left < 0 || p.Iteration <= 0 || p.Slots < 1 || p.Runs < 1 {
		return -1
	}
	return max(0, int(float64(p.Left)/float64(p.Iteration)*float64(p.Slots)/float64(p.Runs))-2)
}

// Depth returns the number of iterations per block with which all runs finish in time: at least 1, at most most.
func (p Pace) Depth(blocks, most int) int {
	if n := p.iterations(); n >= 0 {
		return max(1, min(most, n/max(1, blocks)))
	}
	return most
}

// Breadth returns the number of blocks that there is time for, one iteration each: at least 1, at most most.
func (p Pace) Breadth(most int) int {
	if n := p.iterations(); n >= 0 {
		return max(1, min(most, n))
	}
	return most
}
