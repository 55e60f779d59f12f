package view

import (
	"fmt"
	"strings"
	"time"
)

// Duration formats a duration as 3:07 or 1:03:07, and a negative one as 0:00.
func Duration(d time.Duration) string {
	s := int(max(0, d).Seconds())
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Counted formats a number of things: 1 source, 2 sources.
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Either lists alternatives: a, b or c.
func Either(names ...string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Size formats a number of bytes.
func Size(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 30, "GB"}, {1 << 20, "MB"}, {1 << 10, "KB"}} {
		if n >= unit.size {
			return fmt.Sprintf("%d %s", n/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// ShortID returns the last ten characters of a run id, which commands accept too.
func ShortID(runID string) string { return runID[max(0, len(runID)-10):] }

// TopicColumns is the maximum width of a topic in lines of unlimited width.
const TopicColumns = 200

// DueTime formats the due time of a schedule.
func DueTime(t time.Time) string { return t.Format("Mon 2006-01-02 15:04 MST") }

// Because returns a reason in parentheses, or "".
func Because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + strings.ToValidUTF8(why, "?") + ")"
}
