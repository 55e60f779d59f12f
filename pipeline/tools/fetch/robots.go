package fetch

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// How robots.txt is read (RFC 9309).
const (
	maxRobots    = 500 << 10 // bytes of it that count
	maxRules     = 2000
	maxPattern   = 512              // bytes; longer ones are passed over
	maxSites     = 1000             // that are remembered
	maxDelay     = 10 * time.Second // Crawl-delay beyond this would be the end of a run
	robotsLife   = 6 * time.Hour
	robotsRetry  = 5 * time.Minute // after the server could not tell
	robotsWithin = 10 * time.Second
)

// robotsCache remembers the rules of sites, by origin.
type robotsCache struct {
	mu    sync.Mutex
	sites map[string]*site
}

// site is what is known of one origin. Whoever holds turn may ask the server.
type site struct {
	turn    chan struct{}
	rules   robotsRules
	expires time.Time
}

// rules returns the rules of an address's site, asking the server when they are not known; of many callers one does.
func (c *Client) rules(ctx context.Context, address *url.URL) (robotsRules, error) {
	origin := url.URL{Scheme: address.Scheme, Host: strings.ToLower(address.Host), Path: "/robots.txt"}
	s := c.robots.site(origin.String())
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return robotsRules{}, context.Cause(ctx)
	}
	defer func() { <-s.turn }()
	if time.Now().Before(s.expires) {
		return s.rules, nil
	}
	rules, life, err := c.askRobots(ctx, &origin)
	if err != nil {
		return robotsRules{}, err
	}
	s.rules, s.expires = rules, time.Now().Add(life)
	return rules, nil
}

// site returns what is known of an origin.
func (r *robotsCache) site(origin string) *site {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.sites[origin]; s != nil {
		return s
	}
	if r.sites == nil || len(r.sites) >= maxSites { // starting over is rare and costs one request a site
		r.sites = map[string]*site{}
	}
	s := &site{turn: make(chan struct{}, 1)}
	r.sites[origin] = s
	return s
}

// askRobots reads a robots.txt. A site without one, or whose one must not be read, sets no rules; a server that is
// broken excludes everything until it is mended.
func (c *Client) askRobots(ctx context.Context, address *url.URL) (robotsRules, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, robotsWithin)
	defer cancel()
	response, err := c.follow(ctx, Request{URL: address.String(), MaxBytes: maxRobots}, address)
	var status *StatusError
	var refused *RefusedError
	switch {
	case err == nil:
		return parseRobots(string(response.Body), c.settings.UserAgent), robotsLife, nil
	case errors.As(err, &status) && (status.Status >= 500 || status.Status == 429):
		return robotsRules{closed: true}, robotsRetry, nil
	case errors.As(err, &status):
		return robotsRules{}, robotsLife, nil
	case errors.As(err, &refused) && refused.Reason != RefusedAddress:
		return robotsRules{}, robotsLife, nil
	}
	return robotsRules{}, 0, err // the page could not be reached either
}

// robotsRules are the rules of a site for this program.
type robotsRules struct {
	closed bool // nothing may be read
	rules  []robotsRule
	delay  time.Duration
}

type robotsRule struct {
	pattern string
	allow   bool
}

// parseRobots reads the rules for the program of this user agent, else those for all.
func parseRobots(text, agent string) robotsRules {
	product, _, _ := strings.Cut(strings.ToLower(agent), "/")
	var own, others robotsRules
	var forOwn, forOthers, named, inAgents bool
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line, _, _ = strings.Cut(line, "#")
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		if key == "user-agent" {
			if !inAgents {
				forOwn, forOthers = false, false
			}
			inAgents = true
			name, _, _ := strings.Cut(strings.ToLower(value), "/")
			forOwn = forOwn || name == product
			forOthers = forOthers || name == "*"
			named = named || name == product
			continue
		}
		inAgents = inAgents && key != "allow" && key != "disallow" && key != "crawl-delay"
		if forOwn {
			own.add(key, value)
		}
		if forOthers {
			others.add(key, value)
		}
	}
	if named {
		return own
	}
	return others
}

func (r *robotsRules) add(key, value string) {
	switch key {
	case "allow", "disallow":
		if value != "" && len(value) <= maxPattern && len(r.rules) < maxRules {
			r.rules = append(r.rules, robotsRule{unescape(value), key == "allow"})
		}
	case "crawl-delay":
		if n, err := strconv.ParseFloat(value, 64); err == nil && n > 0 {
			r.delay = time.Duration(min(n, maxDelay.Seconds()) * float64(time.Second))
		}
	}
}

// allow reports whether an address may be read: the longest pattern that matches decides, and of two the one that
// allows.
func (r robotsRules) allow(address *url.URL) bool {
	if r.closed {
		return false
	}
	path := address.EscapedPath()
	if path == "" {
		path = "/"
	}
	if address.RawQuery != "" {
		path += "?" + address.RawQuery
	}
	path = unescape(path)
	allowed, longest := true, -1
	for _, rule := range r.rules {
		if n := len(rule.pattern); (n > longest || n == longest && rule.allow) && matches(rule.pattern, path) {
			allowed, longest = rule.allow, n
		}
	}
	return allowed
}

// unescape makes spellings of one path equal.
func unescape(path string) string {
	if s, err := url.PathUnescape(path); err == nil {
		return s
	}
	return path
}

// matches reports whether path begins as pattern says. * stands for anything, $ at the end for the end.
func matches(pattern, path string) bool {
	pattern, toEnd := strings.CutSuffix(pattern, "$")
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(path, parts[0]) {
		return false
	}
	path = path[len(parts[0]):]
	for i, part := range parts[1:] {
		if toEnd && i == len(parts)-2 {
			return strings.HasSuffix(path, part)
		}
		at := strings.Index(path, part)
		if at < 0 {
			return false
		}
		path = path[at+len(part):]
	}
	return !toEnd || path == ""
}
