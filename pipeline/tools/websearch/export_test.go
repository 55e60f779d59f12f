package websearch

import "time"

// Plain and Day expose the cleaning of provider data.
func Plain(s string) string              { return plain(s) }
func Day(s string, now time.Time) string { return day(s, now) }
