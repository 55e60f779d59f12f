package websearch

import "time"

// CleanAddress, Plain and Day expose the cleaning of provider data.
func CleanAddress(raw string) (address, key string, ok bool) { return cleanAddress(raw) }
func Plain(s string) string                                  { return plain(s) }
func Day(s string, now time.Time) string                     { return day(s, now) }
