package redisqueue

import "strconv"

// turn returns the position of a waiting run in its lane: earliest deadline first, to the minute, then oldest first.
// Runs without a deadline come last; their position is their creation time (ms).
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
	turnSpan    = 200_000_000           // ms before the minute, more than two days, within which age counts
	turnsBefore = 9_000_000_000_000_000 // makes positions with a deadline negative; sorted sets store them exactly
)

// waitedSince returns the creation time (ms) of the run at a position. If the run is due more than turnSpan after its
// creation, it returns the latest possible creation time.
func waitedSince(turn int64) int64 {
	if turn >= 0 {
		return turn
	}
	place := turn + turnsBefore
	minute := (place + turnSpan - 1) / turnSpan
	return minute*turnMinute - (minute*turnSpan - place)
}
