package websearch

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"nightdesk/pipeline/knowledge/extract/document"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/topicqueue"
)

// maxOthers is the maximum number of results beyond the n best.
const maxOthers = 50

// sources cleans hits, and drops duplicates and invalid addresses. out has at most n sources with a text and n without;
// others are the rest, without text.
func sources(hits []hit, n int, now time.Time) (out, others []topicqueue.Source) {
	known, left := map[string]bool{}, map[string]int{} // by key; left: index in others
	full, bare := 0, 0
	for _, h := range hits {
		address, key, ok := fetch.CleanAddress(h.url)
		if !ok || known[key] {
			continue
		}
		s := topicqueue.Source{
			Kind: topicqueue.SourceWeb, Title: short(plain(h.title)), URL: address, Date: day(h.date, now),
			Publisher:   short(plain(h.publisher)),
			RetrievedAt: now.UTC(), Text: plain(h.text),
		}
		if s.Title == "" {
			s.Title = strings.TrimPrefix(strings.TrimPrefix(address, "https://"), "http://")
		}
		count := &bare
		if s.Text != "" {
			count = &full
		}
		if *count == n {
			if _, twice := left[key]; !twice && len(others) < maxOthers {
				s.Text = ""
				left[key] = len(others)
				others = append(others, s)
			}
			continue
		}
		*count++
		known[key] = true
		if i, ok := left[key]; ok { // it is now among the best, so drop it from others
			others[i].URL = ""
		}
		s.Hash = topicqueue.TextHash(s.Text)
		s.ID = topicqueue.SourceID(s)
		out = append(out, s)
	}
	return out, slices.DeleteFunc(others, func(s topicqueue.Source) bool { return s.URL == "" })
}

// ago matches a time relative to now. Weeks and months are excluded, because they do not give the day.
var ago = regexp.MustCompile(`(?i)^(\d{1,3}|an?) (minute|min|hour|day)s? ago$`)

// day returns a date as YYYY-MM-DD, YYYY-MM or YYYY, or "" if text is not a date or not a plausible one for a page.
func day(text string, now time.Time) string {
	text = strings.Join(strings.Fields(text), " ")
	if m := ago.FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil { // a, an
			n = 1
		}
		unit := map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[strings.ToLower(m[2][:1])]
		text = now.UTC().Add(-time.Duration(n) * unit).Format(time.DateOnly)
	}
	date := document.ParseDate(text)
	if date < "1971" || date > now.Add(48*time.Hour).Format(time.DateOnly) { // 1970-01-01 means that the date is unknown
		return ""
	}
	return date
}
