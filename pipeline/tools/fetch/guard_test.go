package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"nightdesk/pipeline/tools/fetch"
)

// nameServer is a DNS server with a list of answers for each name. The last answer is repeated.
type nameServer struct {
	mu      sync.Mutex
	answers map[string][]string
}

func (n *nameServer) next(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.answers[name]
	if len(list) == 0 {
		return ""
	}
	if len(list) > 1 {
		n.answers[name] = list[1:]
	}
	return list[0]
}

// resolver starts the server and returns a resolver that uses it.
func resolver(t *testing.T, answers map[string][]string) *net.Resolver {
	t.Helper()
	n := &nameServer{answers: answers}
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			size, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if reply := n.reply(buf[:size]); reply != nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// reply answers one question for IPv4 or IPv6 addresses.
func (n *nameServer) reply(question []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	m.Response, m.Additionals = true, nil
	name := strings.TrimSuffix(q.Name.String(), ".")
	known := len(n.answers[name]) > 0
	header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
	for _, text := range strings.Fields(n.answerOf(name, q.Type)) {
		ip := netip.MustParseAddr(text)
		switch {
		case q.Type == dnsmessage.TypeA && ip.Is4():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: ip.As4()}})
		case q.Type == dnsmessage.TypeAAAA && ip.Is6():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: ip.As16()}})
		}
	}
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	out, err := m.Pack()
	if err != nil {
		return nil
	}
	return out
}

// answerOf advances the list only for IPv4 queries, because a lookup makes both kinds.
func (n *nameServer) answerOf(name string, kind dnsmessage.Type) string {
	n.mu.Lock()
	list := n.answers[name]
	n.mu.Unlock()
	if kind == dnsmessage.TypeA {
		return n.next(name)
	}
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// refused checks the error of a request that must not be made, and returns it.
func refused(t *testing.T, err error, why string) *fetch.RefusedError {
	t.Helper()
	var refusal *fetch.RefusedError
	if !errors.As(err, &refusal) || refusal.Reason != why {
		t.Fatalf("got %v, want a refusal for %s", err, why)
	}
	if refusal.Detail == "" || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("the refusal reads %q", err)
	}
	return refusal
}

func TestAddressesThatAreNotPublic(t *testing.T) {
	t.Parallel()
	for name, ip := range map[string]string{
		"loopback": "127.0.0.1", "loopback network": "127.8.9.10", "this network": "0.0.0.0", "class a": "10.1.2.3", "class b": "172.16.0.1",
		"class c": "192.168.1.1", "carrier": "100.64.0.1", "link-local": "169.254.1.1", "metadata": "169.254.169.254",
		"documentation": "203.0.113.9", "benchmark": "198.18.0.1", "multicast": "224.0.0.1", "broadcast": "255.255.255.255",
		"loopback 6": "::1", "unspecified 6": "::", "mapped": "::ffff:127.0.0.1", "mapped private": "::ffff:10.0.0.1", "compatible": "::127.0.0.1",
		"unique local": "fd00::1", "metadata 6": "fd00:ec2::254", "link-local 6": "fe80::1", "nat64": "64:ff9b::7f00:1", "local nat64": "64:ff9b:1::7f00:1",
		"6to4": "2002:7f00:1::1", "teredo": "2001:0:7f00:1::1", "documentation 6": "2001:db8::1", "multicast 6": "ff02::1",
	} {
		for _, by := range []string{"literal", "name"} {
			t.Run(name+" by "+by, func(t *testing.T) {
				t.Parallel()
				host := "inside.example"
				if by == "literal" {
					if host = ip; strings.Contains(ip, ":") {
						host = "[" + ip + "]"
					}
				}
				c := fetch.NewResolving(fetch.Settings{Timeout: 5 * time.Second}, resolver(t, map[string][]string{"inside.example": {ip}}))
				_, err := c.Do(t.Context(), fetch.Request{URL: "http://" + host + "/?key=s3cret"})
				refused(t, err, fetch.RefusedAddress)
			})
		}
	}
}

// TestOddSpellings: for any spelling of an address, the dialled address is checked. Spellings that the resolver does
// not accept are unknown names.
func TestOddSpellings(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	server := serve(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(server, "http://"))
	c := fetch.NewResolving(fetch.Settings{Timeout: 5 * time.Second}, resolver(t, map[string][]string{"localhost.": {"127.0.0.1"}}))
	for _, host := range []string{
		"localhost", "LOCALHOST", "localhost.", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "127.0.1", "0", "017700000001",
		"①②⑦.⓪.⓪.①", "127。0。0。1", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "[::1%25lo]", "127.0.0.1.", "%31%32%37.0.0.1",
	} {
		if _, err := c.Do(t.Context(), fetch.Request{URL: "http://" + host + ":" + port}); err == nil {
			t.Errorf("%s was fetched", host)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("the server was reached %d times", n)
	}
}

func TestSchemes(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"file:///etc/passwd", "ftp://a.example/x", "gopher://a.example", "data:text/html,x", "javascript:alert(1)", "", "a.example", "//a.example", "http://", "http:///x", "\x00", "http://a.example:99999999/%zz"} {
		_, err := fetch.New(fetch.Settings{}).Do(t.Context(), fetch.Request{URL: address})
		var refusal *fetch.RefusedError
		if !errors.As(err, &refusal) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestPorts(t *testing.T) {
	t.Parallel()
	_, err := fetch.New(fetch.Settings{}).Do(t.Context(), fetch.Request{URL: "http://93.184.215.14:6379/?key=s3cret"})
	if refusal := refused(t, err, fetch.RefusedAddress); !strings.Contains(refusal.Detail, "6379") {
		t.Errorf("%q", refusal.Detail)
	}
}

func TestAllow(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(server, "http://"))
	for _, tc := range []struct {
		allow, host string
		ok          bool
	}{
		{"127.0.0.1", "127.0.0.1", true},
		{"127.0.0.1:" + port, "127.0.0.1", true},
		{"127.0.0.1:1", "127.0.0.1", false},
		{"127.0.0.0/8", "127.0.0.1", true},
		{"10.0.0.0/8", "127.0.0.1", false},
		{"::ffff:127.0.0.1", "127.0.0.1", true},
		{"searx.internal", "searx.internal", true},
		{"Searx.Internal:" + port, "searx.INTERNAL", true},
		{"searx.internal:1", "searx.internal", false},
		{"searx.internal", "other.internal", false},
		{"searx.internal", "x.searx.internal", false},
		{"127.0.0.1", "searx.internal", true},
	} {
		t.Run(tc.allow+" "+tc.host, func(t *testing.T) {
			t.Parallel()
			if err := fetch.CheckAllow(tc.allow); err != nil {
				t.Fatal(err)
			}
			names := map[string][]string{"searx.internal": {"127.0.0.1"}, "searx.INTERNAL": {"127.0.0.1"}, "other.internal": {"127.0.0.1"}, "x.searx.internal": {"127.0.0.1"}}
			c := fetch.NewResolving(fetch.Settings{Allow: []string{tc.allow}}, resolver(t, names))
			defer c.Close()
			_, err := c.Do(t.Context(), fetch.Request{URL: "http://" + tc.host + ":" + port})
			if tc.ok != (err == nil) {
				t.Errorf("got %v", err)
			} else if err != nil {
				refused(t, err, fetch.RefusedAddress)
			}
		})
	}
	for _, entry := range []string{"", "http://a.example", "a.example:0", "a.example:http", "10.0.0.0/33", "*.example", "a b", "a@b"} {
		if fetch.CheckAllow(entry) == nil {
			t.Errorf("%q is taken", entry)
		}
	}
}

// TestChangingAnswers: a name that resolves differently the second time is checked again, because the connection is
// guarded.
func TestChangingAnswers(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	handler := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		w.Header().Set("Connection", "close")
		fmt.Fprint(w, "hello")
	})}
	go func() { _ = handler.Serve(l) }()
	t.Cleanup(func() { _ = handler.Close() })
	c := fetch.NewResolving(fetch.Settings{Allow: []string{"127.0.0.1"}, Timeout: 5 * time.Second},
		resolver(t, map[string][]string{"turning.example": {"127.0.0.1", "127.0.0.2"}}))
	address := fmt.Sprintf("http://turning.example:%d/", port)
	if _, err := c.Do(t.Context(), fetch.Request{URL: address}); err != nil {
		t.Fatal(err)
	}
	_, err = c.Do(t.Context(), fetch.Request{URL: address})
	refused(t, err, fetch.RefusedAddress)
	if reached.Load() != 1 {
		t.Errorf("reached %d times", reached.Load())
	}
}

func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	proxy := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") })
	t.Setenv("HTTP_PROXY", proxy)
	t.Setenv("http_proxy", proxy)
	_, err := fetch.New(fetch.Settings{}).Do(t.Context(), fetch.Request{URL: "http://10.0.0.1/"})
	refused(t, err, fetch.RefusedAddress)
}
