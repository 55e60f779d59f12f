package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"nightdesk/pipeline/knowledge/extract"
	"nightdesk/pipeline/sources"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/topicqueue"
)

//go:embed open_page.md
var openPageDescription string

// Limits of one page.
const (
	maxPageBytes = 5 << 20   // HTML and text as sent; larger pages are data dumps
	maxPDFBytes  = 30 << 20  // PDF as sent
	maxPageText  = 200 << 10 // kept text, in bytes: a book of 100 pages
	readAtOnce   = 2         // pages that one tool extracts in parallel; a hostile page takes 250 MB for a few seconds
)

// openPage is the tool open_page.
type openPage struct {
	outside fetch.Doer
	reading chan struct{} // semaphore of page extraction
}

// NewOpenPage returns open_page, which returns the text of one page. One tool serves all runs of a process.
func NewOpenPage(outside fetch.Doer) Tool { return openPage{outside, make(chan struct{}, readAtOnce)} }

// Name returns the tool's name.
func (openPage) Name() string { return NameOpenPage }

// Description returns the description for the model.
func (openPage) Description() string { return strings.TrimSpace(openPageDescription) }

// Call opens a page. The result has one source, or has Failed set and a Text that says what to try instead.
func (t openPage) Call(ctx context.Context, call Call) (Result, error) {
	address, ok := pageAddress(call.Query)
	if !ok {
		return failed("open_page needs one full address that begins with http:// or https://; it was called with %q. To "+
			"look for something, use a search.", short(call.Query)), nil
	}
	response, err := t.outside.Do(ctx, fetch.Request{
		URL: address, Robots: true, MaxBytes: maxPDFBytes,
		Accept: []string{"text/html", "application/xhtml+xml", "text/markdown", "text/x-markdown", "text/plain",
			"application/pdf", "application/x-pdf"},
		Header: http.Header{"Accept-Language": {"en, *;q=0.5"}}, Known: call.Known,
	})
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	if err != nil {
		zerolog.Ctx(ctx).Debug().Err(err).Msg("page was not opened")
		return Result{Failed: true, Final: final(err), Gone: gone(err), Text: unopened(address, err)}, nil
	}
	if response.Status == http.StatusNotModified {
		return Result{Unchanged: true, Text: "The page has not changed."}, nil
	}
	p, err := t.read(ctx, response)
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	if err != nil {
		return Result{Failed: true, Final: true, Gone: errors.Is(err, extract.ErrNoPage), Text: unread(response.URL, err)},
			nil
	}
	result := p.result(response.URL)
	result.Sources[0].ETag, result.Sources[0].LastModified = response.Version().ETag, response.Version().LastModified
	return result, nil
}

// read extracts the page. It waits while readAtOnce other pages are being read.
func (t openPage) read(ctx context.Context, r fetch.Response) (page, error) {
	select {
	case t.reading <- struct{}{}:
	case <-ctx.Done():
		return page{}, context.Cause(ctx)
	}
	defer func() { <-t.reading }()
	return readPage(ctx, r)
}

// result returns the answer for a page.
func (p page) result(address string) Result {
	s := topicqueue.Source{
		Kind: topicqueue.SourceWeb, Title: p.title, URL: address, Date: p.date, Authors: p.by.Authors,
		Publisher: p.by.Publisher, RetrievedAt: time.Now().UTC(), Text: p.text,
	}
	s.Hash = topicqueue.TextHash(s.Text)
	s.ID = topicqueue.SourceID(s)
	s = sources.Describe(s, p.kind) // the page itself is not kept for later
	head := []string{address}
	for _, part := range []string{p.by.By(), p.date} {
		if part != "" {
			head = append(head, part)
		}
	}
	text := fmt.Sprintf("[1] %s (%s)\n%s", s.Title, strings.Join(head, ", "), s.Text)
	if p.cut > 0 {
		text += fmt.Sprintf("\n\n(The page is longer: these are its first %d KB of %d KB.)", len(p.text)>>10,
			(len(p.text)+p.cut)>>10)
	}
	return Result{Text: text, Sources: []topicqueue.Source{s}, Pictures: p.pictures}
}

// failed returns a Result with Failed set and a formatted text.
func failed(format string, args ...any) Result {
	return Result{Failed: true, Text: fmt.Sprintf(format, args...)}
}

// final reports whether the reason why a page could not be fetched is permanent.
func final(err error) bool {
	var status *fetch.StatusError
	var refused *fetch.RefusedError
	if errors.As(err, &status) {
		switch status.Status {
		case http.StatusTooManyRequests, http.StatusRequestTimeout, http.StatusTooEarly:
			return false
		}
		return status.Status >= 400 && status.Status < 500
	}
	return errors.As(err, &refused)
}

// gone reports whether the site reports that the page does not exist.
func gone(err error) bool {
	var status *fetch.StatusError
	return errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusGone)
}

// unopened explains why a page could not be fetched, in words that a model can react to.
func unopened(address string, err error) string {
	advice := "Use another source on the same subject."
	var refused *fetch.RefusedError
	switch {
	case gone(err):
		advice = "Do not guess addresses; search for the title, or open another source."
	case !errors.As(err, &refused):
	case refused.Reason == fetch.RefusedAddress, refused.Reason == fetch.RefusedScheme:
		advice = "Only public pages of the web can be opened."
	case refused.Reason == fetch.RefusedSize:
		advice = "Open a smaller page: a part, a summary or an abstract."
	}
	return "open_page could not open " + fetch.Redact(address) + ": " + fetch.Words(err) + ". " + advice
}

// unread explains why a fetched page cannot be read.
func unread(address string, err error) string {
	advice := "Use another source on the same subject."
	switch {
	case errors.Is(err, extract.ErrNoPage):
		advice = "Do not guess addresses; search for the title, or open another source."
	case errors.Is(err, extract.ErrEmpty):
		advice = "Scripts may build the page. Use another source, or search for its title."
	case errors.Is(err, errTooLarge):
		advice = "Open a smaller page: a part, a summary or an abstract."
	}
	return "open_page got " + fetch.Redact(address) + ", but cannot use it: " + err.Error() + ". " + advice
}
