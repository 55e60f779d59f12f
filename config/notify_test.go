package config_test

import (
	"slices"
	"strings"
	"testing"

	"nightdesk/config"
)

func TestWebhookAndMail(t *testing.T) {
	t.Parallel()
	load := func(env map[string]string) (config.Config, error) {
		return config.Load("", false, func(name string) string { return env[name] }, nil)
	}
	c, err := load(map[string]string{
		"NIGHTDESK_WEBHOOK_URL": "https://hooks.example/T0P", "NIGHTDESK_WEBHOOK_SECRET": "whsec_T0P",
		"NIGHTDESK_MAIL_SERVER": "smtps://desk:T0P@mail.example",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range c.Effective() {
		if strings.Contains(e.Value, "T0P") {
			t.Errorf("%s shows %s", e.Path, e.Value)
		}
	}
	several, err := load(map[string]string{"NIGHTDESK_WEBHOOK_URL": "https://a.example/x?y=1,2, http://b.example https://c.example/", "NIGHTDESK_WEBHOOK_SECRET": "whsec_1,whsec_2"})
	if got := several.Webhook.Addresses(); err != nil || !slices.Equal(got, []string{"https://a.example/x?y=1,2", "http://b.example", "https://c.example/"}) {
		t.Errorf("addresses %q, %v", got, err)
	}
	if got := several.Webhook.Secrets(); !slices.Equal(got, []string{"whsec_1", "whsec_2"}) {
		t.Errorf("secrets %q", got)
	}
	_, err = load(map[string]string{"NIGHTDESK_MAIL_SERVER": "mail:T0P@example", "NIGHTDESK_WEBHOOK_URL": "T0P", "NIGHTDESK_RETENTION_DAYS": "-1"})
	for _, want := range []string{"webhook.url", "mail.server", "retention.days"} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "T0P") {
			t.Errorf("%s: %v", want, err)
		}
	}
}
