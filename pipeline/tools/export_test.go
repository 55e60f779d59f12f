package tools

import (
	"context"

	"nightdesk/pipeline/tools/fetch"
)

// PageAddress returns the address that a model means.
func PageAddress(query string) (string, bool) { return pageAddress(query) }

// ReadPage returns title and text of what was fetched.
func ReadPage(ctx context.Context, r fetch.Response) (title, text string, err error) {
	p, err := readPage(ctx, r)
	return p.title, p.text, err
}

// PageKey returns the form of an address by which equal pages are recognised.
func PageKey(address string) string { return pageKey(address) }
