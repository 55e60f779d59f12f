package fetch

import (
	"net/url"
	"strings"

	"nightdesk/pipeline/citation/address"
)

// maxAddress is the maximum length of an address, in bytes. Longer addresses contain data.
const maxAddress = 2000

// CleanAddress returns the address of a page without fragment, credentials and tracking parameters, and a key that is
// equal for different spellings of it: without scheme, www, default port and trailing slash. ok is false if raw is not
// the address of a page.
func CleanAddress(raw string) (clean, key string, ok bool) {
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
	if usual := map[string]string{"http": "80", "https": "443"}[u.Scheme]; u.Port() == usual {
		u.Host = strings.TrimSuffix(u.Host, ":"+usual)
	}
	var kept []string
	for parameter := range strings.SplitSeq(u.RawQuery, "&") {
		name, _, _ := strings.Cut(parameter, "=")
		if parameter != "" && !address.IsTracking(name) {
			kept = append(kept, parameter)
		}
	}
	u.RawQuery = strings.Join(kept, "&")
	if clean = u.String(); len(clean) > maxAddress {
		return "", "", false
	}
	return clean, keyOf(u), true
}

func keyOf(u *url.URL) string {
	host := strings.TrimSuffix(u.Hostname(), ".")
	for strings.HasPrefix(host, "www.") {
		host = host[len("www."):]
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" && port != "80" && port != "443" {
		host += ":" + port
	}
	path := u.EscapedPath()
	if !strings.Contains(strings.ToLower(u.RawPath), "%2f") { // with %2F, unescaping changes the meaning
		path = (&url.URL{Path: u.Path}).EscapedPath()
	}
	key := host + strings.TrimRight(path, "/")
	if u.RawQuery != "" {
		key += "?" + u.RawQuery
	}
	return key
}
