// Package address compares the URLs of sources. Normalize returns the form in which two URLs are equal. An Index finds
// the source that a URL identifies, also one that is cut short or has more or fewer parameters.
package address

import (
	"html"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Address is a parsed http(s) URL in the normalized form used for comparison. http and https are equal.
type Address struct {
	rest  string // the text after "://", entities decoded, without fragment
	Host  string // lower case, names in ASCII form, with the port unless it is the default
	path  string // begins with "/", without trailing slash, dot segments and needless escapes
	query url.Values
	slash bool // was written with a trailing slash

	normal string   // of an Index: the key
	others []string // of an Index: rests of other spellings
}

// Normalize returns the form in which URLs are compared, and "" for text that is not an absolute http(s) URL or that
// contains a user name. The scheme is https and the host is lower-case ASCII. Default port, fragment, trailing slash,
// dot segments, needless escapes and tracking parameters are removed; the other parameters are sorted.
func Normalize(raw string) string {
	a, ok := Parse(raw)
	if !ok {
		return ""
	}
	return "https://" + a.key()
}

// Parse parses a URL as tolerantly as browsers do. It accepts, for example, a lone %, which net/url rejects.
func Parse(raw string) (Address, bool) {
	raw = strings.TrimSpace(DecodeEntities(raw))
	scheme, rest, found := strings.Cut(raw, "://")
	port := ":443"
	switch {
	case !found:
		return Address{}, false
	case strings.EqualFold(scheme, "http"):
		port = ":80"
	case !strings.EqualFold(scheme, "https"):
		return Address{}, false
	}
	rest, _, _ = strings.Cut(rest, "#")
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	host, ok := normalHost(rest[:end], port)
	if !ok {
		return Address{}, false
	}
	path, query, _ := strings.Cut(rest[end:], "?")
	a := Address{rest: rest, Host: host, path: normalPath(path), query: normalQuery(query)}
	a.slash = len(path) > 1 && strings.HasSuffix(path, "/")
	return a, true
}

// key identifies the resource: host, path and the significant parameters.
func (a Address) key() string { return a.Host + a.path + joinQuery(a.query) }

// looseKey is key without parts that are optional on some sites only: www., ;parameters, repeated values, ref and
// source. It identifies an address only if no other address has the same loose key.
func (a Address) looseKey() string {
	path := a.path
	if semi := strings.IndexByte(path[strings.LastIndexByte(path, '/'):], ';'); semi >= 0 {
		path = path[:strings.LastIndexByte(path, '/')+semi]
	}
	query := url.Values{}
	for name, values := range a.query {
		if name != "ref" && name != "source" {
			query[name] = values[:1]
		}
	}
	return strings.TrimPrefix(a.Host, "www.") + path + joinQuery(query)
}

// contradict reports whether two addresses with the same loose key have different values for a shared parameter.
func contradict(a, b url.Values) bool {
	for name, x := range a {
		y := b[name]
		loose := name != "ref" && name != "source" && (len(x) == 1 || len(y) == 1)
		if len(y) > 0 && !loose && !slices.Equal(x, y) {
			return true
		}
	}
	return false
}

// joinQuery writes parameters, those of one name in the order in which they were written.
func joinQuery(query url.Values) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(query)) {
		for _, value := range query[name] {
			b.WriteByte("?&"[min(b.Len(), 1)])
			b.WriteString(name + "=" + value)
		}
	}
	return b.String()
}

// normalHost checks and normalizes the authority of a URL. It rejects user names, which are used to deceive readers.
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

// clickIDs are tracking parameters, besides those that begin with utm_.
var clickIDs = strings.Fields(`
	gclid gclsrc dclid gbraid wbraid fbclid msclkid yclid twclid ttclid li_fat_id igshid igsh mc_eid
	mc_cid mkt_tok _hsenc _hsmi vero_id oly_anon_id oly_enc_id _ga _gl ref_src ref_url wt_mc s_cid
	srsltid spm gs_lcrp _openstat vero_conv`)

// IsTracking reports whether a parameter of a URL says where a reader came from, and does not affect the content.
func IsTracking(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(clickIDs, name) || strings.HasPrefix(name, "utm_")
}

func normalQuery(query string) url.Values {
	params := url.Values{}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name = unescape(strings.ReplaceAll(name, "+", " "), "&=#%+")
		value = unescape(strings.ReplaceAll(value, "+", " "), "&#%+")
		lower := strings.ToLower(name)
		if pair == "" || IsTracking(name) {
			continue
		}
		if lower == "ref" || lower == "source" { // the case of these tracking names is insignificant
			name = lower
		}
		params.Add(name, value)
	}
	return params
}

// unescape decodes %XX, except for control characters and the characters of keep, whose escapes become upper case.
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

// DecodeEntities decodes HTML entities that end with a semicolon, because "&copy=1" is a parameter.
func DecodeEntities(s string) string {
	return entity.ReplaceAllStringFunc(s, html.UnescapeString)
}

// ipName is the end of a host that browsers take for an IP address in decimal, hexadecimal or octal notation.
var ipName = regexp.MustCompile(`^\[|(?:^|\.)(?:[0-9]+|0[xX][0-9a-fA-F]*)\.?(?::[0-9]+)?$`)

// IsIP reports whether the host is an IP address in any notation that browsers accept: dotted, short, decimal,
// hexadecimal, octal or IPv6.
func (a Address) IsIP() bool { return ipName.MatchString(a.Host) }

// shorteners are the hosts of URL shorteners.
var shorteners = strings.Fields(`
	bit.ly tinyurl.com t.co goo.gl ow.ly is.gd buff.ly short.io rb.gy cutt.ly lnkd.in soo.gd s.coop
	cli.gs budurl.com yourls.org`)

// IsShortened reports whether the address is one of a URL shortener.
func (a Address) IsShortened() bool {
	host, _, _ := strings.Cut(a.Host, ":")
	return slices.ContainsFunc(shorteners, func(s string) bool { return host == s || strings.HasSuffix(host, "."+s) })
}

// IsSite reports whether the address names a site without a page.
func (a Address) IsSite() bool { return a.path == "/" && len(a.query) == 0 }
