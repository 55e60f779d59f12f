package extract

import (
	"strings"
	"time"
)

// date returns the day that s begins with as YYYY-MM-DD, and "" for anything else.
func date(s string) string {
	s = strings.TrimSpace(s)
	if len(s) < 10 {
		return ""
	}
	day, err := time.Parse(time.DateOnly, s[:10])
	if err != nil || len(s) > 10 && s[10] != 'T' && s[10] != ' ' {
		return ""
	}
	return day.Format(time.DateOnly)
}
