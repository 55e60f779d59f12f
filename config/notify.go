package config

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
)

// Webhook configures the receivers of events.
type Webhook struct {
	URL    Secret // addresses, separated by white space or commas; their paths are often keys; empty: none
	Secret Secret // whsec_..., one for all addresses or one for each
}

// Addresses returns the receivers' addresses, in order.
func (w Webhook) Addresses() []string { return addresses(w.URL.Reveal()) }

// Secrets returns the signing secrets: one per address, or one for all.
func (w Webhook) Secrets() []string { return fields(w.Secret.Reveal()) }

// nextAddress matches the separator between addresses. An address may itself contain a comma.
var nextAddress = regexp.MustCompile(`[,\s]+(https?://)`)

func addresses(list string) []string {
	return strings.Fields(nextAddress.ReplaceAllString(list, " $1"))
}

func httpAddresses(list string) error {
	for _, a := range addresses(list) {
		if err := httpAddress(a); err != nil {
			return err
		}
	}
	return nil
}

func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// Mail configures the mailing of digests.
type Mail struct {
	Server URL // empty: no mails
	From   string
	To     string // comma-separated addresses
}

// Retention configures how much `purge` keeps; 0 = no limit.
type Retention struct {
	Days, Count int // of runs, and of versions of memories and knowledge bases
}

// Upper limits of the settings; 36,500 days are about a century.
const maxDays, maxKept = 36_500, 100_000_000

const smtpAllowed = "smtp://user:password@host:587 or smtps://user:password@host:465"

func smtpAddress(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" {
		return errors.New("must be " + smtpAllowed)
	}
	return nil
}

// secretAddress is an address that is never shown. check: see address.
func secretAddress(p *Secret, allowed string, check func(string) error) value {
	v := secret(p)
	set := v.set
	v.allowed = allowed
	v.set = func(s string) error {
		if s != "" {
			if err := check(s); err != nil {
				return err
			}
		}
		return set(s)
	}
	return v
}
