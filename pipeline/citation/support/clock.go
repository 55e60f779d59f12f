package support

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// clock is a time of day or a time that was taken: 9:30 a.m., 7.30 Uhr, 2:05:41.
type clock struct {
	raw     string
	at      int // byte
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
	add := func(at int, raw string, h, m, sec, parts int, half string) {
		switch {
		case (half == "p" || half == "P") && h < 12:
			h += 12
		case (half == "a" || half == "A") && h == 12:
			h = 0
		}
		if m < 60 && sec < 60 {
			out = append(out, clock{raw: raw, at: at, seconds: 3600*h + 60*m + sec, parts: parts})
		}
	}
	if strings.Contains(s, ":") {
		for _, at := range clockTime.FindAllStringSubmatchIndex(s, -1) {
			m := groups(s, at)
			parts := 2
			if m[3] != "" {
				parts = 3
			}
			add(at[0], m[0], number(m[1]), number(m[2]), number(m[3]), parts, m[4])
		}
	}
	for _, at := range dottedTime.FindAllStringSubmatchIndex(s, -1) {
		m := groups(s, at)
		add(at[0], m[0], number(m[1]), number(m[2]), 0, 2, m[3])
	}
	for _, at := range wordTime.FindAllStringSubmatchIndex(s, -1) {
		m := groups(s, at)
		seconds := 3600*hours[strings.ToLower(m[2])] + 1800
		switch {
		case strings.HasSuffix(strings.ToLower(m[1]), "quarter past"):
			seconds -= 900
		case strings.HasSuffix(strings.ToLower(m[1]), "quarter to"):
			seconds -= 2700
		}
		out = append(out, clock{raw: m[0], at: at[0], seconds: seconds, parts: 2, half: true})
	}
	return out
}

// groups returns the matches at these places, empty where there is none.
func groups(s string, at []int) []string {
	out := make([]string, len(at)/2)
	for i := range out {
		if at[2*i] >= 0 {
			out[i] = s[at[2*i]:at[2*i+1]]
		}
	}
	return out
}

// missingClock returns a time that no source has. A time in words may be of either half of the day.
func (s *statement) missingClock(texts []*text) string {
	for _, c := range clocks(s.text) {
		found, own, best := false, 0.0, 0.0
		for _, t := range texts {
			for _, o := range t.times()[:min(len(t.times()), maxTimes)] {
				same := c.parts == o.parts && (c.seconds == o.seconds || (c.half || o.half) && (c.seconds-o.seconds)%(12*3600) == 0)
				share := s.share(s.lineOf(t, o.at), t)
				if best = max(best, share); same {
					found, own = true, max(own, share)
				}
			}
			found = found || strings.Contains(t.Text, c.raw) || strings.Contains(t.About, c.raw)
		}
		if !found || own < best/2 && best >= enough { // it is there, on another line than what it is said of
			return c.raw
		}
	}
	return ""
}

// maxTimes bounds the times of a source that are held against one.
const maxTimes = 300

// lineOf returns which of the statement's terms stand on the line around a byte, at most so far from it.
func (s *statement) lineOf(t *text, at int) map[int]bool {
	const far = 200
	from, to := max(0, at-far), min(len(t.Text), at+far)
	if n := strings.LastIndexByte(t.Text[from:at], '\n'); n >= 0 {
		from += n + 1
	}
	if n := strings.IndexByte(t.Text[at:to], '\n'); n >= 0 {
		to = at + n
	}
	lo, _ := slices.BinarySearchFunc(t.words, from, func(w word, b int) int { return w.start - b })
	there := map[string]bool{}
	for ; lo < len(t.words) && t.words[lo].start < to; lo++ {
		there[t.words[lo].term()] = true
	}
	out := map[int]bool{}
	for i, term := range s.terms {
		if there[term.text] {
			out[i] = true
		}
	}
	return out
}

// times returns the times of the text.
func (t *text) times() []clock {
	if !t.clocked {
		t.clocked, t.clocks = true, clocks(t.Text)
	}
	return t.clocks
}
