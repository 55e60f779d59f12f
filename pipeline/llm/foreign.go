package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"

	"nightdesk/topicqueue"
)

// foreignAnswer is an answer that is not of the protocol: the login page of a network, an empty body, JSON of another
// program. It counts as an outage, because the model server did not send it.
type foreignAnswer struct {
	what string // that was answered
	page bool   // HTML or a redirect
	odd  bool   // a JSON object: it may come from the server after all, and be about this one question
	said string // the whole message, see judge
}

func (e *foreignAnswer) Error() string { return e.said }

const maxShownBody = 80 // bytes of a foreign answer in an error

var pageTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// jsonObject returns a body from the first byte of its JSON object on. The error is a *foreignAnswer.
func jsonObject(body []byte) ([]byte, error) {
	body = bytes.TrimPrefix(bytes.TrimSpace(body), []byte("\uFEFF"))
	switch {
	case len(body) == 0:
		return nil, &foreignAnswer{what: "an empty body"}
	case body[0] == '{':
		return body, nil
	case body[0] != '<':
		return nil, &foreignAnswer{what: excerpt(body)}
	}
	page := &foreignAnswer{what: "an HTML page", page: true}
	if title := pageTitle.FindSubmatch(body); title != nil {
		page.what += " " + excerpt([]byte(html.UnescapeString(string(title[1]))))
	}
	return nil, page
}

// excerpt quotes the beginning of a foreign text.
func excerpt(text []byte) string {
	words := strings.Fields(string(text[:min(len(text), maxMessage)]))
	return fmt.Sprintf("%q", topicqueue.Clip(strings.Join(words, " "), maxShownBody))
}

// without is the error of a JSON object that lacks a part of the protocol.
func without(part string) error { return &foreignAnswer{what: "JSON without " + part, odd: true} }

// unreadable is the error of a body that begins as a JSON object: broken JSON, which may have been cut off on its way,
// or errBody.
func unreadable(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return &foreignAnswer{what: fmt.Sprintf("broken JSON (%v)", err), odd: true}
	}
	return fmt.Errorf("%w: %w", errBody, err)
}

// foreign describes an answer that is not of the protocol; nil for any other. Networks ask for a login by a redirect to
// another host or page. A redirect within the host to the same page is that of a server that has another address.
func (ex *exchange) foreign() *foreignAnswer {
	var e *foreignAnswer
	if errors.As(ex.err, &e) {
		return e
	}
	switch {
	case ex.err != nil || ex.status == http.StatusOK || ex.status < 200 || ex.status >= 400:
		return nil
	case ex.status < 300:
		return &foreignAnswer{what: fmt.Sprintf("status %d", ex.status)}
	}
	to, err := url.Parse(ex.location)
	if err != nil || ex.location == "" {
		return nil
	}
	to = ex.asked.ResolveReference(to)
	if !strings.EqualFold(to.Hostname(), ex.asked.Hostname()) {
		return &foreignAnswer{what: "a redirect to " + to.Host, page: true}
	}
	if path.Base(to.Path) == path.Base(ex.asked.Path) {
		return nil
	}
	return &foreignAnswer{what: "a redirect to its page " + excerpt([]byte(to.Path)), page: true}
}

// tell completes the message of a foreign answer to a question for what is wanted, and takes the key out of it.
func (r *role) tell(e *foreignAnswer, wanted string) error {
	e.said = fmt.Sprintf("answered with %s, not with %s", redact(e.what, r.settings.APIKey), wanted)
	if e.page {
		e.said += " (a login page of the network, or a wrong base URL: it usually " + r.protocol.usual + ")"
	}
	return fmt.Errorf("%s %w", r.host, e)
}
