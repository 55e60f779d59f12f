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

// Limits for reading robots.txt (RFC 9309).
const (
	maxRobots    = 500 << 10 // maximum size, in bytes
	maxRules     = 2000
	maxPattern   = 512              // bytes; longer patterns are ignored
	maxSites     = 1000             // cached sites
	maxDelay     = 10 * time.Second // maximum Crawl-delay; a longer one would stall a run
	robotsLife   = 6 * time.Hour
	robotsRetry  = 5 * time.Minute // lifetime after a server error
	robotsWithin = 10 * time.Second
)

// robotsCache caches the rules of sites, by origin.
type robotsCache struct {
	mu    sync.Mutex
	sites map[string]*site
}

// site caches the rules of one origin. The holder of turn may query the server.
type site struct {
	turn    chan struct{}
	rules   robotsRules
	expires time.Time
}

// rules returns the rules of an address's site. If they are not cached, one of the concurrent callers fetches them.
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

// site returns the cache entry of an origin.
func (r *robotsCache) site(origin string) *site {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.sites[origin]; s != nil {
		return s
	}
	if r.sites == nil || len(r.sites) >= maxSites { // clearing the cache is rare and costs one request per site
		r.sites = map[string]*site{}
	}
	s := &site{turn: make(chan struct{}, 1)}
	r.sites[origin] = s
	return s
}

// askRobots fetches and parses a robots.txt. A missing or refused robots.txt sets no rules. After a server error or
// status 429, everything is excluded until robotsRetry has passed.
func (c *Client) askRobots(ctx context.Context, address *url.URL) (robotsRules, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, robotsWithin)
	defer cancel()
	response, err := c.follow(ctx, Request{URL: address.String(), MaxBytes: maxRobots}, address)
	var status *StatusError
	var refused *RefusedError
	switch {
	case err == nil:
		return parseRobots(string(response.Body), userAgent), robotsLife, nil
	case errors.As(err, &status) && (status.Status >= 500 || status.Status == 429):
		return robotsRules{closed: true}, robotsRetry, nil
	case errors.As(err, &status):
		return robotsRules{}, robotsLife, nil
	case errors.As(err, &refused) && refused.Reason != RefusedAddress:
		return robotsRules{}, robotsLife, nil
	}
	return robotsRules{}, 0, err // the page would be unreachable too
}

// robotsRules are a site's rules for this program.
type robotsRules struct {
	closed bool // nothing may be read
	rules  []robotsRule
	delay  time.Duration
}

type robotsRule struct {
	pattern string
	allow   bool
}

// parseRobots returns the rules for this user agent, or else the rules for all agents.
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

// allow reports whether an address may be fetched. The longest matching pattern decides; of two equally long ones, the
// one that allows.
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

// unescape normalizes different spellings of a path.
func unescape(path string) string {
	if s, err := url.PathUnescape(path); err == nil {
		return s
	}
	return path
}

// matches reports whether path starts with pattern. * matches any text, and a final $ matches the end of path.
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
