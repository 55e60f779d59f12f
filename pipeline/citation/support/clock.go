package support

import (
	"regexp"
	"strconv"
	"strings"
)

// clock is a time of day or a time that was taken: 9:30 a.m., 7.30 Uhr, 2:05:41.
type clock struct {
	raw     string
	seconds int
	parts   int
	half    bool // of a day of twelve hours
}

var (
	clockTime  = regexp.MustCompile(`\b(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s?([ap])\.?m\b)?`)
	dottedTime = regexp.MustCompile(`\b(\d{1,2})\.(\d{2})(?:\s?([ap])\.?m\b|\s?Uhr)`)
	wordTime   = regexp.MustCompile(`(?i)\b(half past|(?:a )?quarter past|(?:a )?quarter to) (one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b`)
)

var hours = map[string]int{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12}

// clocks finds the times of a text.
func clocks(s string) []clock {
	var out []clock
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	add := func(raw string, h, m, sec, parts int, half string) {
		switch {
		case (half == "p" || half == "P") && h < 12:
			h += 12
		case (half == "a" || half == "A") && h == 12:
			h = 0
		}
		if m < 60 && sec < 60 {
			out = append(out, clock{raw: raw, seconds: 3600*h + 60*m + sec, parts: parts})
		}
	}
	if strings.Contains(s, ":") {
		for _, m := range clockTime.FindAllStringSubmatch(s, -1) {
			parts := 2
			if m[3] != "" {
				parts = 3
			}
			add(m[0], number(m[1]), number(m[2]), number(m[3]), parts, m[4])
		}
	}
	for _, m := range dottedTime.FindAllStringSubmatch(s, -1) {
		add(m[0], number(m[1]), number(m[2]), 0, 2, m[3])
	}
	for _, m := range wordTime.FindAllStringSubmatch(s, -1) {
		seconds := 3600*hours[strings.ToLower(m[2])] + 1800
		switch {
		case strings.HasSuffix(strings.ToLower(m[1]), "quarter past"):
			seconds -= 900
		case strings.HasSuffix(strings.ToLower(m[1]), "quarter to"):
			seconds -= 2700
		}
		out = append(out, clock{raw: m[0], seconds: seconds, parts: 2, half: true})
	}
	return out
}

// missingClock returns a time that no source has. A time in words may be of either half of the day.
func (s *statement) missingClock(texts []*text) string {
	for _, c := range clocks(s.text) {
		found := false
		for _, t := range texts {
			for _, o := range t.times() {
				found = found || c.parts == o.parts && (c.seconds == o.seconds || (c.half || o.half) && (c.seconds-o.seconds)%(12*3600) == 0)
			}
			found = found || strings.Contains(t.Text, c.raw) || strings.Contains(t.About, c.raw)
		}
		if !found {
			return c.raw
		}
	}
	return ""
}

// times returns the times of the text.
func (t *text) times() []clock {
	if !t.clocked {
		t.clocked, t.clocks = true, clocks(t.Text)
	}
	return t.clocks
}
