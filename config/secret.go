package config

import (
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"unique"
)

// Redacted replaces a secret in output.
const Redacted = "[redacted]"

// hidden keeps text out of output. fmt calls no methods on unexported fields of other packages' structs but prints
// their memory; through a handle it prints only an address. Equal texts are ==.
type hidden struct{ handle unique.Handle[string] }

func hide(text string) hidden {
	if text == "" {
		return hidden{}
	}
	return hidden{unique.Make(text)}
}

// Reveal returns the text.
func (h hidden) Reveal() string {
	if h == (hidden{}) {
		return ""
	}
	return h.handle.Value()
}

// Secret is a text, such as an API key, that is never printed. fmt with any verb, JSON, YAML and logs show
// [redacted], or "" if it is empty. Reveal returns the text. Two secrets with the same text are ==.
type Secret struct{ hidden }

// NewSecret returns text as a secret.
func NewSecret(text string) Secret { return Secret{hide(text)} }

// String returns [redacted], or "" if the secret is empty.
func (s Secret) String() string {
	if s == (Secret{}) {
		return ""
	}
	return Redacted
}

// Format prints String for every verb; %q and %#v quote it.
func (s Secret) Format(f fmt.State, verb rune) { format(f, verb, s.String()) }

// MarshalText returns String, for JSON, YAML and other encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Equal reports whether both hold the same text.
func (s Secret) Equal(other Secret) bool { return s == other }

// URL is an address that may contain credentials. Output shows [redacted] in their place; Reveal returns the whole
// text. The text need not be well-formed. Two URLs with the same text are ==.
type URL struct{ hidden }

// NewURL returns text as a URL.
func NewURL(text string) URL { return URL{hide(text)} }

// String returns the address without credentials; see RedactURL.
func (u URL) String() string { return RedactURL(u.Reveal()) }

// Format prints String for every verb; %q and %#v quote it.
func (u URL) Format(f fmt.State, verb rune) { format(f, verb, u.String()) }

// MarshalText returns String, for JSON, YAML and other encoders.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// Equal reports whether both hold the same text.
func (u URL) Equal(other URL) bool { return u == other }

// Host returns host and port, or "" if the address has none or is invalid.
func (u URL) Host() string {
	parsed, err := url.Parse(u.Reveal())
	if err != nil {
		return ""
	}
	return parsed.Host
}

func format(f fmt.State, verb rune, shown string) {
	if verb == 'q' || verb == 'v' && f.Flag('#') {
		_, _ = fmt.Fprintf(f, "%q", shown)
		return
	}
	_, _ = io.WriteString(f, shown)
}

var (
	scheme         = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)
	secretParam    = regexp.MustCompile(`(?i)([?&;#][^=&;#]*(?:pass|pwd|secret|token|key|auth|sig|cred)[^=&;#]*=)[^&;#]*`)
	anyParam       = regexp.MustCompile(`([?&;#][^=&;#]*=)[^&;#]*`) // for invalid addresses, whose structure is unknown
	redactedMarker = "${1}" + Redacted
)

// RedactURL replaces the user information of address, and the values of query parameters that may be credentials, by
// [redacted]. It works on the text, so it also handles invalid addresses (a password with an unescaped / or #). It
// prefers to redact too much: everything up to the last @ is replaced.
func RedactURL(address string) string {
	start := len(scheme.FindString(address))
	if at := strings.LastIndexByte(address, '@'); at >= start {
		address = address[:start] + Redacted + address[at:]
	}
	return secretParam.ReplaceAllString(address, redactedMarker)
}
