package redisqueue

import "strconv"

// turn is the place of a run among those of its lane that wait: the one that is due first, to the minute, then the
// oldest. Runs without a deadline come after all others, and have the time of their creation (ms) as their place.
func turn(created, deadline int64) string {
	if deadline > 0 {
		minute := deadline / turnMinute
		before := min(max(minute*turnMinute-created, 0), turnSpan-1)
		created = minute*turnSpan - before - turnsBefore
	}
	return strconv.FormatInt(created, 10)
}

const (
	turnMinute  = 60_000                // ms
	turnSpan    = 200_000_000           // ms before the minute, more than two days, in which ages count
	turnsBefore = 9_000_000_000_000_000 // makes places with a deadline negative; sorted sets keep them exactly
)

// waitedSince returns when the run at a place was created, ms; of one that is due in more than turnSpan the last time
// that it can have been.
func waitedSince(turn int64) int64 {
	if turn >= 0 {
		return turn
	}
	place := turn + turnsBefore
	minute := (place + turnSpan - 1) / turnSpan
	return minute*turnMinute - (minute*turnSpan - place)
}
