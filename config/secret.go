package config

import (
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"unique"
)

// Redacted is what a secret prints.
const Redacted = "[redacted]"

// hidden keeps a text out of sight. fmt calls no methods on unexported fields of foreign structs and prints their
// memory instead; behind a handle there is only an address. Equal texts are ==.
type hidden struct{ handle unique.Handle[string] }

func hide(text string) hidden {
	if text == "" {
		return hidden{}
	}
	return hidden{unique.Make(text)}
}

// Reveal returns the text itself.
func (h hidden) Reveal() string {
	if h == (hidden{}) {
		return ""
	}
	return h.handle.Value()
}

// Secret is a text, such as an API key, that never shows: fmt with any verb, JSON, YAML and logs get [redacted], or an
// empty text when there is none. Reveal gives it. Two secrets with the same text are ==.
type Secret struct{ hidden }

// NewSecret returns text as a secret.
func NewSecret(text string) Secret { return Secret{hide(text)} }

// String returns [redacted], or nothing when the secret is empty.
func (s Secret) String() string {
	if s == (Secret{}) {
		return ""
	}
	return Redacted
}

// Format prints String for every verb; %q and %#v quote it.
func (s Secret) Format(f fmt.State, verb rune) { format(f, verb, s.String()) }

// MarshalText gives JSON, YAML and other encoders String.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Equal reports whether both hold the same text.
func (s Secret) Equal(other Secret) bool { return s == other }

// URL is an address that may carry credentials. Wherever it is printed they are replaced by [redacted]; Reveal gives
// the whole text. It need not be well formed. Two URLs with the same text are ==.
type URL struct{ hidden }

// NewURL returns text as a URL.
func NewURL(text string) URL { return URL{hide(text)} }

// String returns the address without credentials, see RedactURL.
func (u URL) String() string { return RedactURL(u.Reveal()) }

// Format prints String for every verb; %q and %#v quote it.
func (u URL) Format(f fmt.State, verb rune) { format(f, verb, u.String()) }

// MarshalText gives JSON, YAML and other encoders String.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// Equal reports whether both hold the same text.
func (u URL) Equal(other URL) bool { return u == other }

// Host returns host and port, empty when the address has none or cannot be read.
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
	anyParam       = regexp.MustCompile(`([?&;#][^=&;#]*=)[^&;#]*`) // of an address that was refused nothing is known
	redactedMarker = "${1}" + Redacted
)

// RedactURL returns address with its user information and the values of query parameters that sound like credentials
// replaced by [redacted]. It works on the text, so that it also covers addresses that do not parse (a password with an
// unescaped / or #), and rather hides too much than too little: everything up to the last @ goes.
func RedactURL(address string) string {
	start := len(scheme.FindString(address))
	if at := strings.LastIndexByte(address, '@'); at >= start {
		address = address[:start] + Redacted + address[at:]
	}
	return secretParam.ReplaceAllString(address, redactedMarker)
}
