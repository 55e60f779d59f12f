package fetch

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// guard restricts which addresses may be dialled.
type guard struct {
	public  *ssrf.Guardian
	hosts   []allowedHost
	nets    []allowedNet
	guarded net.Dialer // checks the resolved address at the moment of dialling
	free    net.Dialer // for hosts that the operator allows
}

type allowedHost struct {
	name string
	port string // empty means all
}

type allowedNet struct {
	prefix netip.Prefix
	port   uint16 // 0 means all
}

// CheckAllow returns an error if an entry of Settings.Allow is invalid.
func CheckAllow(entry string) error {
	_, _, err := parseAllow(entry)
	return err
}

// parseAllow parses an entry of Settings.Allow. Exactly one result is set.
func parseAllow(entry string) (*allowedHost, *allowedNet, error) {
	if prefix, err := netip.ParsePrefix(entry); err == nil {
		return nil, &allowedNet{prefix: prefix.Masked()}, nil
	}
	host, port := entry, ""
	if h, p, err := net.SplitHostPort(entry); err == nil {
		host, port = h, p
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, nil, fmt.Errorf("%q is not a port", port)
		}
	}
	if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		n, _ := strconv.ParseUint(port, 10, 16)
		ip = ip.Unmap().WithZone("")
		return nil, &allowedNet{netip.PrefixFrom(ip, ip.BitLen()), uint16(n)}, nil
	}
	if host == "" || strings.ContainsAny(host, "/ :@*?#[]") {
		return nil, nil, fmt.Errorf("%q is not a host, address or network", entry)
	}
	return &allowedHost{strings.ToLower(host), port}, nil, nil
}

func newGuard(allow []string, resolver *net.Resolver) *guard {
	g := &guard{public: ssrf.New()}
	for _, entry := range allow {
		host, network, err := parseAllow(strings.TrimSpace(entry))
		switch {
		case err != nil: // see New
		case host != nil:
			g.hosts = append(g.hosts, *host)
		default:
			g.nets = append(g.nets, *network)
		}
	}
	g.free = net.Dialer{Timeout: 15 * time.Second, Resolver: resolver}
	g.guarded = g.free
	g.guarded.Control = g.check
	return g
}

// names reports whether an entry of the list names this host or, for an address, its network.
func (g *guard) names(host string) bool {
	ip, err := netip.ParseAddr(host)
	return slices.ContainsFunc(g.hosts, func(h allowedHost) bool { return strings.EqualFold(h.name, host) }) ||
		err == nil && slices.ContainsFunc(g.nets, func(n allowedNet) bool { return n.prefix.Contains(ip.Unmap()) })
}

// dial connects to host:port.
func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if host, port, err := net.SplitHostPort(address); err == nil {
		for _, h := range g.hosts {
			if strings.EqualFold(h.name, host) && (h.port == "" || h.port == port) {
				return g.free.DialContext(ctx, network, address)
			}
		}
	}
	return g.guarded.DialContext(ctx, network, address)
}

// check rejects a forbidden address. It receives the address that is about to be dialled, whatever name, redirect or
// spelling it came from.
func (g *guard) check(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return &RefusedError{Reason: RefusedAddress, Detail: "its address is invalid"}
	}
	ip := target.Addr().Unmap()
	for _, n := range g.nets {
		if n.prefix.Contains(ip.WithZone("")) && (n.port == 0 || n.port == target.Port()) {
			return nil
		}
	}
	if g.public.SafeAddr(ip) != nil {
		return &RefusedError{Reason: RefusedAddress, Detail: fmt.Sprintf("its address %s is not public", ip)}
	}
	if port := target.Port(); port != 80 && port != 443 {
		return &RefusedError{Reason: RefusedAddress,
			Detail: fmt.Sprintf("port %d is not a web port (80 or 443)", port)}
	}
	return nil
}
