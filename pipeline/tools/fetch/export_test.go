package fetch

import "net"

// NewResolving returns a client that resolves names with a resolver of the test.
func NewResolving(s Settings, resolver *net.Resolver) *Client { return newClient(s, resolver) }
