package wire

import (
	"bytes"
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

// Foreign is an answer that does not follow the protocol: a network's login page, an empty body, JSON of another
// program. It counts as an outage, because the model server did not send it.
type Foreign struct {
	What string // description of the answer
	Page bool   // HTML or a redirect
	Odd  bool   // a JSON object, which may come from the server after all and concern this question only
}

func (e *Foreign) Error() string { return "answered with " + e.What }

const (
	maxShownBody = 80  // bytes of a foreign answer shown in an error
	maxRead      = 600 // bytes of it examined for the excerpt
)

var pageTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// jsonObject returns body starting at its JSON object. The error is a *Foreign.
func jsonObject(body []byte) ([]byte, error) {
	body = bytes.TrimPrefix(bytes.TrimSpace(body), []byte("\uFEFF"))
	switch {
	case len(body) == 0:
		return nil, &Foreign{What: "an empty body"}
	case body[0] == '{':
		return body, nil
	case body[0] != '<':
		return nil, &Foreign{What: excerpt(body)}
	}
	page := &Foreign{What: "an HTML page", Page: true}
	if title := pageTitle.FindSubmatch(body); title != nil {
		page.What += " " + excerpt([]byte(html.UnescapeString(string(title[1]))))
	}
	return nil, page
}

// excerpt quotes the beginning of a foreign text.
func excerpt(text []byte) string {
	words := strings.Fields(string(text[:min(len(text), maxRead)]))
	return fmt.Sprintf("%q", topicqueue.Clip(strings.Join(words, " "), maxShownBody))
}

// without returns the error for a JSON object that lacks a part of the protocol.
func without(part string) error { return &Foreign{What: "JSON without " + part, Odd: true} }

// Foreign describes an answer that does not follow the protocol, or returns nil. A redirect to another host or page is
// a network's login page. A redirect to the same page on the same host is not foreign: the server has moved.
func (ex *Exchange) Foreign() *Foreign {
	var e *Foreign
	if errors.As(ex.Err, &e) {
		return e
	}
	switch {
	case ex.Err != nil || ex.Status == http.StatusOK || ex.Status < 200 || ex.Status >= 400:
		return nil
	case ex.Status < 300:
		return &Foreign{What: fmt.Sprintf("status %d", ex.Status)}
	}
	to, err := url.Parse(ex.location)
	if err != nil || ex.location == "" {
		return nil
	}
	to = ex.asked.ResolveReference(to)
	if !strings.EqualFold(to.Hostname(), ex.asked.Hostname()) {
		return &Foreign{What: "a redirect to " + to.Host, Page: true}
	}
	if path.Base(to.Path) == path.Base(ex.asked.Path) {
		return nil
	}
	return &Foreign{What: "a redirect to its page " + excerpt([]byte(to.Path)), Page: true}
}
