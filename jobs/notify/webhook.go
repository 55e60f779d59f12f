package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"nightdesk/topicqueue/retry"
)

// Secret signs webhooks. Printing it shows "[redacted]".
type Secret struct{ key []byte }

// ParseSecret decodes "whsec_" followed by the base64 of 24 to 64 random bytes. The error does not contain the text.
func ParseSecret(text string) (Secret, error) {
	encoded, ok := strings.CutPrefix(text, "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return Secret{}, errors.New("must be whsec_ and the base64 of 24 to 64 random bytes: echo whsec_$(openssl " +
			"rand -base64 32)")
	}
	return Secret{key}, nil
}

// String returns "[redacted]".
func (s Secret) String() string { return "[redacted]" }

// Format writes "[redacted]" for every verb of fmt.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// Sign returns the value of webhook-signature: "v1," and the base64 of an HMAC-SHA256. It signs id, seconds since 1970
// and body, separated by dots.
func (s Secret) Sign(id string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, s.key)
	fmt.Fprintf(mac, "%s.%d.", id, at.Unix())
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// deliveryTime limits one delivery attempt.
const deliveryTime = 20 * time.Second

// longestRest is the maximum retry delay that a receiver may request.
const longestRest = 24 * time.Hour

// Webhook is a receiver's address for events. The operator chose it, so private addresses are allowed.
type Webhook struct {
	address *url.URL
	secret  Secret
	client  *http.Client
}

// NewWebhook returns the webhook at an http or https address. The error does not contain the address. patience: timeout
// of a delivery; 0 = deliveryTime.
func NewWebhook(address string, secret Secret, patience time.Duration) (*Webhook, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, errors.New("must be an http:// or https:// address")
	}
	if patience == 0 {
		patience = deliveryTime
	}
	return &Webhook{address: u, secret: secret, client: &http.Client{
		Timeout: patience,
		Transport: &http.Transport{Proxy: nil, ForceAttemptHTTP2: true, IdleConnTimeout: 30 * time.Second,
			MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Key identifies the address in names of queues and tasks without revealing it: 10 letters and digits.
func (w *Webhook) Key() string {
	sum := sha256.Sum256([]byte(w.address.String()))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:10])
}

// Host returns the host of the address for messages.
func (w *Webhook) Host() string { return w.address.Host }

// Close closes idle connections.
func (w *Webhook) Close() error {
	w.client.CloseIdleConnections()
	return nil
}

// RefusedError is a response with a status other than 2xx, such as a redirect.
type RefusedError struct {
	Host       string
	Status     int
	RetryAfter time.Duration // requested by the receiver, at most a day; 0 = none
}

// Error names the host, the status and a likely fix.
func (e *RefusedError) Error() string {
	text := fmt.Sprintf("the webhook at %s answered %d %s", e.Host, e.Status, http.StatusText(e.Status))
	switch {
	case e.Status >= 300 && e.Status < 400:
		text += ": redirects are not followed; set webhook.url to the final address"
	case e.Status == http.StatusGone:
		text += ": it accepts no more events; remove webhook.url"
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		text += ": does it have the same webhook.secret?"
	}
	return text
}

// Deliver sends a body once. Any 2xx status is success, regardless of the response body. The error is a *RefusedError,
// the cause of ctx's end, or a network error.
func (w *Webhook) Deliver(ctx context.Context, id string, body []byte, now time.Time) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.address.String(), bytes.NewReader(body))
	if err != nil {
		return w.failed(ctx, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "nightdesk/1.0")
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
	req.Header.Set("webhook-signature", w.secret.Sign(id, now, body))
	resp, err := w.client.Do(req)
	if err != nil {
		return w.failed(ctx, err)
	}
	defer resp.Body.Close()
	// read the body so that the connection can be reused; its content does not matter
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		return nil
	}
	return &RefusedError{Host: w.address.Host, Status: resp.StatusCode,
		RetryAfter: retry.After(resp.Header, now, longestRest)}
}

// failed returns an error that contains only the host of the address.
func (w *Webhook) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var asked *url.Error // contains the whole address
	if errors.As(err, &asked) {
		if asked.Timeout() {
			return fmt.Errorf("the webhook at %s did not answer within %s", w.address.Host, w.client.Timeout)
		}
		err = asked.Err
	}
	return fmt.Errorf("the webhook at %s cannot be reached: %w", w.address.Host, err)
}
