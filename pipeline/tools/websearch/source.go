package websearch

import (
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"nightdesk/topicqueue"
)

// maxAddress is the maximum length of an address, in bytes. Longer addresses contain data.
const maxAddress = 2000

// maxOthers is the maximum number of results beyond the n best.
const maxOthers = 50

// sources cleans hits, and drops duplicates and invalid addresses. out has at most n sources with a text and n without;
// others are the rest, without text.
func sources(hits []hit, n int, now time.Time) (out, others []topicqueue.Source) {
	known, left := map[string]bool{}, map[string]int{} // by key; left: index in others
	full, bare := 0, 0
	for _, h := range hits {
		address, key, ok := cleanAddress(h.url)
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

// tracking matches URL parameters that describe where a visitor came from, not the page.
var tracking = regexp.MustCompile(`(?i)^(utm_[a-z_]+|[gdy]clid|[gw]braid|fbclid|msclkid|twclid|` +
	`igshid|srsltid|mc_[ce]id|mkt_tok|_hs(enc|mi)|` +
	`vero_(id|conv)|_openstat|gs_lcrp|s_cid|oly_(anon|enc)_id)$`)

// cleanAddress returns the address of a page without fragment, credentials and tracking parameters, and a key that is
// equal for different spellings of it. ok is false if raw is not the address of a page.
func cleanAddress(raw string) (address, key string, ok bool) {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return "", "", false
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", "", false
	}
	u.User, u.Fragment, u.RawFragment, u.ForceQuery = nil, "", "", false
	u.Host = strings.ToLower(u.Host)
	usual := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	if host, port, err := net.SplitHostPort(u.Host); err == nil && port == usual {
		u.Host = host
		if strings.Contains(host, ":") {
			u.Host = "[" + host + "]"
		}
	}
	var kept []string
	for _, parameter := range strings.Split(u.RawQuery, "&") {
		name, _, _ := strings.Cut(parameter, "=")
		if parameter != "" && !tracking.MatchString(name) {
			kept = append(kept, parameter)
		}
	}
	u.RawQuery = strings.Join(kept, "&")
	if address = u.String(); len(address) > maxAddress {
		return "", "", false
	}
	return address, strings.TrimPrefix(u.Host, "www.") + strings.TrimRight(u.EscapedPath(), "/") + "?" + u.RawQuery, true
}

// ago matches a time relative to now. Weeks and months are excluded, because they do not give the day.
var ago = regexp.MustCompile(`(?i)^(\d{1,3}|an?) (minute|min|hour|day)s? ago$`)

// dates are the formats in which providers give days.
var dates = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05", time.DateOnly,
	"Jan 2, 2006", "January 2, 2006", "2 Jan 2006", "2 January 2006", time.RFC1123, time.RFC1123Z, "2006/01/02",
}

// year matches a date that is only a year.
var year = regexp.MustCompile(`^(19|20)\d\d$`)

// day returns a date as YYYY-MM-DD or YYYY, or "" if text is not a date or not a plausible one for a page.
func day(text string, now time.Time) string {
	text = strings.Join(strings.Fields(text), " ")
	if year.MatchString(text) {
		return text
	}
	at := time.Time{}
	if m := ago.FindStringSubmatch(text); m != nil {
		n := 0
		for _, digit := range m[1] {
			if digit >= '0' && digit <= '9' {
				n = n*10 + int(digit-'0')
			} else {
				n = 1
			}
		}
		at = now.UTC().Add(-time.Duration(n) * map[string]time.Duration{"m": time.Minute, "h": time.Hour,
			"d": 24 * time.Hour}[strings.ToLower(m[2][:1])])
	}
	for _, form := range dates {
		if t, err := time.Parse(form, text); err == nil {
			at = t
			break
		}
	}
	if at.Year() < 1971 || at.After(now.Add(48*time.Hour)) { // 1970-01-01 means that the date is unknown
		return ""
	}
	return at.Format(time.DateOnly)
}
