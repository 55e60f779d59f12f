package citation

import (
	"html"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// address is an http(s) URL, taken apart and brought into the form in which URLs are compared. http and https are one.
type address struct {
	rest  string // as written behind "://", entities decoded, without fragment
	host  string // lower case, names in their ASCII form, with a port that is not the default one
	path  string // begins with "/", has no trailing slash, dot segments or needless escapes
	query []param
	slash bool // was written with a trailing slash
}

type param struct{ name, value string }

// NormalizeURL returns the form in which URLs are compared, and "" for what is no absolute http(s) URL or names a user.
// The scheme is https, the host lower case and ASCII, a default port, the fragment, a trailing slash and dot segments
// are gone, escapes are as few as possible, parameters that count clicks are dropped and the others sorted.
func NormalizeURL(raw string) string {
	a, ok := parseAddress(raw)
	if !ok {
		return ""
	}
	return "https://" + a.key()
}

// parseAddress takes a URL apart as tolerantly as browsers do: what net/url refuses, such as a lone %, is accepted.
func parseAddress(raw string) (address, bool) {
	raw = strings.TrimSpace(decodeEntities(raw))
	scheme, rest, found := strings.Cut(raw, "://")
	port := ":443"
	switch {
	case !found:
		return address{}, false
	case strings.EqualFold(scheme, "http"):
		port = ":80"
	case !strings.EqualFold(scheme, "https"):
		return address{}, false
	}
	rest, _, _ = strings.Cut(rest, "#")
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	host, ok := normalHost(rest[:end], port)
	if !ok {
		return address{}, false
	}
	path, query, _ := strings.Cut(rest[end:], "?")
	a := address{rest: rest, host: host, path: normalPath(path), query: normalQuery(query)}
	a.slash = len(path) > 1 && strings.HasSuffix(path, "/")
	return a, true
}

// key identifies what the address names: host, path and the parameters that mean something.
func (a address) key() string { return a.host + a.path + joinQuery(a.query) }

// looseKey is key without what some sites add and others need: www., ;parameters, repeated values, ref and source.
// It may stand for another address only where that is the only one.
func (a address) looseKey() string {
	path := a.path
	if semi := strings.IndexByte(path[strings.LastIndexByte(path, '/'):], ';'); semi >= 0 {
		path = path[:strings.LastIndexByte(path, '/')+semi]
	}
	var query []param
	for _, p := range a.query {
		if p.name != "ref" && p.name != "source" && (len(query) == 0 || query[len(query)-1].name != p.name) {
			query = append(query, p)
		}
	}
	return strings.TrimPrefix(a.host, "www.") + path + joinQuery(query)
}

// values returns the values of each parameter, in the order in which they were written.
func values(query []param) map[string][]string {
	of := map[string][]string{}
	for _, p := range query {
		of[p.name] = append(of[p.name], p.value)
	}
	return of
}

// contradict reports whether the parameters of two addresses with one loose key differ in one that both have.
func contradict(a, b map[string][]string) bool {
	for name, x := range a {
		y := b[name]
		loose := name != "ref" && name != "source" && (len(x) == 1 || len(y) == 1)
		if len(y) > 0 && !loose && !slices.Equal(x, y) {
			return true
		}
	}
	return false
}

// isSubset reports whether b has all parameters of a with the same values.
func isSubset(a, b map[string][]string) bool {
	for name, x := range a {
		if !slices.Equal(x, b[name]) {
			return false
		}
	}
	return true
}

func joinQuery(query []param) string {
	var b strings.Builder
	for i, p := range query {
		b.WriteByte("?&"[min(i, 1)])
		b.WriteString(p.name + "=" + p.value)
	}
	return b.String()
}

// normalHost checks the authority of a URL. A user name before the host is refused: only those who deceive write one.
func normalHost(authority, defaultPort string) (string, bool) {
	host := strings.ToLower(strings.TrimSuffix(authority, defaultPort))
	port := ""
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host, port = host[:i], host[i:]
		if n, err := strconv.Atoi(port[1:]); port != ":" && (err != nil || n < 1 || n > 65535) {
			return "", false
		}
		port = strings.TrimSuffix(port, ":")
	}
	if inside, ok := strings.CutPrefix(host, "["); ok {
		ip, err := netip.ParseAddr(strings.TrimSuffix(inside, "]"))
		if err != nil || !strings.HasSuffix(inside, "]") {
			return "", false
		}
		return "[" + ip.String() + "]" + port, true
	}
	host = strings.TrimSuffix(unescape(host, ""), ".")
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	if host == "" || strings.ContainsAny(host, " \t\r\n@:[]<>\"'`\\^{}|%,;!()*&=+$") {
		return "", false
	}
	return host + port, true
}

// normalPath removes dot segments, doubled and trailing slashes and needless escapes.
func normalPath(path string) string {
	path = unescape(path, "/?#%\\")
	var kept []string
	for seg := range strings.SplitSeq(path, "/") {
		switch seg {
		case "", ".":
		case "..":
			kept = kept[:max(0, len(kept)-1)]
		default:
			kept = append(kept, seg)
		}
	}
	return "/" + strings.Join(kept, "/")
}

// clickIDs are parameters that say where a reader came from, and nothing of what is read.
var clickIDs = strings.Fields(`
	gclid gclsrc dclid gbraid wbraid fbclid msclkid yclid twclid ttclid li_fat_id igshid igsh mc_eid
	mc_cid mkt_tok _hsenc _hsmi vero_id oly_anon_id oly_enc_id _ga _gl ref_src ref_url wt_mc s_cid
	srsltid spm`)

func normalQuery(query string) []param {
	var params []param
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		p := param{unescape(strings.ReplaceAll(name, "+", " "), "&=#%+"),
			unescape(strings.ReplaceAll(value, "+", " "), "&#%+")}
		lower := strings.ToLower(p.name)
		if pair == "" || slices.Contains(clickIDs, lower) || strings.HasPrefix(lower, "utm_") {
			continue
		}
		if lower == "ref" || lower == "source" { // the case of a name that the reader's way left there means nothing
			p.name = lower
		}
		params = append(params, p)
	}
	slices.SortStableFunc(params, func(a, b param) int { return strings.Compare(a.name, b.name) })
	return params
}

// unescape resolves %XX but for the characters of keep and control characters, whose escapes become upper case.
func unescape(s, keep string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				if c := byte(n); c < 0x20 || c == 0x7f || strings.IndexByte(keep, c) >= 0 {
					b.WriteString(strings.ToUpper(s[i : i+3]))
				} else {
					b.WriteByte(c)
				}
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

var entity = regexp.MustCompile(`&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,30});`)

// decodeEntities resolves HTML entities that end with a semicolon: "&copy=1" is a parameter and no sign.
func decodeEntities(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	return entity.ReplaceAllStringFunc(s, html.UnescapeString)
}

// isIP reports whether a host is an IP address in any spelling that browsers accept: dotted, short, decimal,
// hexadecimal, octal, IPv6.
func isIP(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return false
	}
	for _, p := range parts {
		digits, base := p, 10
		if rest, ok := strings.CutPrefix(strings.ToLower(p), "0x"); ok {
			digits, base = rest, 16
			if rest == "" {
				digits = "0"
			}
		}
		if _, err := strconv.ParseUint(digits, base, 64); err != nil {
			return false
		}
	}
	return true
}

// shorteners are hosts whose addresses hide where they lead.
var shorteners = strings.Fields(`
	bit.ly tinyurl.com t.co goo.gl ow.ly is.gd buff.ly short.io rb.gy cutt.ly lnkd.in soo.gd s.coop
	cli.gs budurl.com yourls.org`)

func isShortener(host string) bool {
	host, _, _ = strings.Cut(host, ":")
	return slices.ContainsFunc(shorteners, func(s string) bool { return host == s || strings.HasSuffix(host, "."+s) })
}
