package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Webhook configures the receivers of events.
type Webhook struct {
	URL    Secret // addresses, separated by white space or commas; their paths are often keys; empty: none
	Secret Secret // whsec_..., one for all addresses or one for each
	Events string // comma-separated event types; empty: all
}

// eventTypes lists all event types. It duplicates the list in package notify, which config must not import.
var eventTypes = []string{"run.ended", "batch.ended", "schedule.paused", "budget.reached"}

// Types returns the event types to send.
func (w Webhook) Types() []string {
	if types := fields(w.Events); len(types) > 0 {
		return types
	}
	return slices.Clone(eventTypes)
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
	ReportDays, ReportCount int // reports and their metadata
	BundleDays, BundleCount int // data and evidence
	RunDays, RunCount       int // entries in lists
	TopicDays, TopicCount   int // earlier versions of a topic's memory

	KnowledgeDays, KnowledgeCount int // published versions of knowledge bases
}

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

func checkEvents(list string) error {
	for _, t := range fields(list) {
		if !slices.Contains(eventTypes, t) {
			return fmt.Errorf("must be comma-separated, from: %s", strings.Join(eventTypes, ", "))
		}
	}
	return nil
}

func notifyTable(w *Webhook, m *Mail) []field {
	return []field{
		setting("webhook.url", "", "",
			"address that receives events (Standard Webhooks), or several, comma-separated; empty: none",
			secretAddress(&w.URL, "http:// or https://, such as https://hooks.example.org/nightdesk", httpAddresses)),
		setting("webhook.secret", "", "",
			"secret that signs webhooks, best set in the environment: whsec_ and the base64 of 24 to 64 random "+
				"bytes; for several addresses, one for all or one for each, in their order",
			secret(&w.Secret)),
		setting("webhook.events", "", "", "events to send; empty: all ("+strings.Join(eventTypes, ", ")+")",
			text(&w.Events, "types of events with commas between them; empty: all", checkEvents)),
		setting("mail.server", "", "", "mail server that sends digests: "+smtpAllowed+"; empty: none are sent",
			address(&m.Server, smtpAllowed, smtpAddress)),
		setting("mail.from", "", "", "sender of these mails",
			text(&m.From, "a mail address", anyText)),
		setting("mail.to", "", "", "recipients of these mails",
			text(&m.To, "mail addresses with commas between them", anyText)),
	}
}

// Upper limits of the settings; 36,500 days are about a century.
const maxDays, maxKept = 36_500, 100_000_000

func retentionTable(r *Retention) []field {
	return []field{
		setting("retention.report_days", "0", "days", "age from which `purge` deletes reports; 0: never",
			number(&r.ReportDays, 0, maxDays)),
		setting("retention.report_count", "0", "reports", "number of newest reports that `purge` keeps; 0: all",
			number(&r.ReportCount, 0, maxKept)),
		setting("retention.bundle_days", "0", "days", "age from which `purge` deletes data and evidence of runs; 0: never",
			number(&r.BundleDays, 0, maxDays)),
		setting("retention.bundle_count", "0", "runs", "number of newest runs whose data and evidence `purge` "+
			"keeps; 0: all",
			number(&r.BundleCount, 0, maxKept)),
		setting("retention.run_days", "0", "days",
			"age from which `purge` removes runs, and batches with their digests, from the lists; 0: never",
			number(&r.RunDays, 0, maxDays)),
		setting("retention.run_count", "0", "runs", "number of newest runs that `purge` keeps in the lists; 0: all",
			number(&r.RunCount, 0, maxKept)),
		setting("retention.topic_days", "0", "days",
			"age from which `purge` deletes old memories of recurring topics; 0: never",
			number(&r.TopicDays, 0, maxDays)),
		setting("retention.knowledge_days", "0", "days",
			"age from which `purge` deletes old versions of knowledge bases that no listed run uses; 0: never",
			number(&r.KnowledgeDays, 0, maxDays)),
		setting("retention.knowledge_count", "0", "versions",
			"number of newest versions of each knowledge base that `purge` keeps; 0: all",
			number(&r.KnowledgeCount, 0, maxKept)),
		setting("retention.topic_count", "0", "states",
			"number of newest memories of each recurring topic that `purge` keeps; 0: all",
			number(&r.TopicCount, 0, maxKept)),
	}
}
