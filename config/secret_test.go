package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rs/zerolog"

	"nightdesk/config"
)

func TestSecret_PrintsNothing(t *testing.T) {
	t.Parallel()
	const text = "sk-canary"
	type nested struct {
		Key config.Secret
		URL config.URL
		key config.Secret // fmt calls no method on it
		url config.URL
	}
	s, u := config.NewSecret(text), config.NewURL("redis://u:"+text+"@host:1/2?password="+text)
	values := map[string]any{
		"secret": s, "pointer": &s, "url": u, "struct": nested{s, u, s, u}, "struct pointer": &nested{s, u, s, u},
		"slice": []config.Secret{s}, "map": map[string]config.URL{"a": u}, "model": config.Model{APIKey: s, BaseURL: u},
	}
	for name, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%5.3s", "%t"} {
			checkHidden(t, name+" with "+verb, fmt.Sprintf(verb, v))
		}
		j, err := json.Marshal(v)
		if err != nil {
			t.Errorf("%s to JSON: %v", name, err)
		}
		checkHidden(t, name+" as JSON", string(j))
		y, err := yaml.Marshal(v)
		if err != nil {
			t.Errorf("%s to YAML: %v", name, err)
		}
		checkHidden(t, name+" as YAML", string(y))
		var log bytes.Buffer
		logger := zerolog.New(&log)
		logger.Info().Interface("v", v).Any("w", v).Fields(map[string]any{"f": v}).Stringer("s", s).Msg("")
		checkHidden(t, name+" in a log", log.String())
	}
	if s.Reveal() != text || config.NewSecret("") != (config.Secret{}) || s != config.NewSecret(text) || s == config.NewSecret("other") {
		t.Error("a secret does not keep its text, or is not compared by it")
	}
}

func checkHidden(t *testing.T, what, shown string) {
	t.Helper()
	hex := fmt.Sprintf("%x", "canary")
	if strings.Contains(shown, "canary") || strings.Contains(strings.ToLower(shown), hex) {
		t.Errorf("%s shows the secret: %s", what, shown)
	}
}

func TestSecret_Shown(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ format, want, empty string }{
		{"%v", "[redacted]", ""}, {"%s", "[redacted]", ""}, {"%+v", "[redacted]", ""}, {"%q", `"[redacted]"`, `""`}, {"%#v", `"[redacted]"`, `""`},
	} {
		if got := fmt.Sprintf(tc.format, config.NewSecret("x")); got != tc.want {
			t.Errorf("%s prints %s, want %s", tc.format, got, tc.want)
		}
		if got := fmt.Sprintf(tc.format, config.Secret{}); got != tc.empty {
			t.Errorf("%s prints an empty secret as %s, want %s", tc.format, got, tc.empty)
		}
	}
	if got, err := json.Marshal(map[string]any{"a": config.NewSecret("x"), "b": config.Secret{}}); err != nil || string(got) != `{"a":"[redacted]","b":""}` {
		t.Errorf("JSON is %s, %v", got, err)
	}
}

func TestRedactURL(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{"", ""},
		{"localhost:6379", "localhost:6379"},
		{"redis://localhost:6379/0", "redis://localhost:6379/0"},
		{"redis://user:secret@host:6379/0?db=1", "redis://[redacted]@host:6379/0?db=1"},
		{"redis://:secret@host", "redis://[redacted]@host"},
		{"redis://user:sec/r#e?t@host", "redis://[redacted]@host"},
		{"redis://user:sec@ret@host", "redis://[redacted]@host"},
		{"redis://a://b@host", "redis://[redacted]@host"},
		{"user:secret@host", "[redacted]@host"},
		{"1://user:secret@host", "[redacted]@host"},
		{"redis-sentinel://:secret@h1:1,h2:2?master=m&sentinel_password=secret", "redis-sentinel://[redacted]@h1:1,h2:2?master=m&sentinel_password=[redacted]"},
		{"https://h/v1?api-key=secret&api-version=2", "https://h/v1?api-key=[redacted]&api-version=2"},
		{"https://h/v1?Access_Token=secret#x", "https://h/v1?Access_Token=[redacted]#x"},
		{"https://h/?a=1;pwd=secret", "https://h/?a=1;pwd=[redacted]"},
	} {
		if got := config.RedactURL(tc.in); got != tc.want {
			t.Errorf("RedactURL(%q) = %q, want %q", tc.in, got, tc.want)
		}
	}
}

// The password of any address with user information is hidden, whatever it contains.
func FuzzRedactURL(f *testing.F) {
	f.Add("redis://user:", "p4ss", "host:6379/0")
	f.Add("", "a@b://c", "h")
	f.Add("http://x?", "=&", "")
	f.Fuzz(func(t *testing.T, before, password, after string) {
		const canary = "\x00canary\x00"
		got := config.RedactURL(before + "://u:" + password + canary + "@" + after)
		if strings.Contains(got, canary) && !strings.Contains(before+after, canary) {
			t.Errorf("shown: %q", got)
		}
		if again := config.RedactURL(got); strings.Count(again, config.Redacted) == 0 {
			t.Errorf("redacting twice gives %q", again)
		}
	})
}
