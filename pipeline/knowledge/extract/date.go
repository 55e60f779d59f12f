package extract

import (
	"strings"
	"time"
)

// date returns the day that s begins with, or that it is in English words, as YYYY-MM-DD, and "" for anything else.
func date(s string) string {
	s = strings.TrimSpace(s)
	for _, layout := range []string{"2 January 2006", "January 2, 2006", "2 Jan 2006", "Jan 2, 2006"} {
		if day, err := time.Parse(layout, s); err == nil {
			return day.Format(time.DateOnly)
		}
	}
	if len(s) < 10 {
		return ""
	}
	day, err := time.Parse(time.DateOnly, s[:10])
	if err != nil || len(s) > 10 && s[10] != 'T' && s[10] != ' ' {
		return ""
	}
	return day.Format(time.DateOnly)
}
