package fetch

import (
	"net"
	"net/url"
)

// NewResolving returns a client with the resolver of a test.
func NewResolving(s Settings, resolver *net.Resolver) *Client { return newClient(s, resolver) }

// RobotsAllow reports whether a robots.txt lets a user agent read a path.
func RobotsAllow(robots, agent, path string) bool {
	u, err := url.Parse("http://a.example" + path)
	return err != nil || parseRobots(robots, agent).allow(u)
}
