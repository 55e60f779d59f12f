package tools

import (
	"context"

	"nightdesk/pipeline/tools/fetch"
)

// PageAddress returns the address in a model's query.
func PageAddress(query string) (string, bool) { return pageAddress(query) }

// ReadPage returns title and text of a response.
func ReadPage(ctx context.Context, r fetch.Response) (title, text string, err error) {
	p, err := readPage(ctx, r)
	return p.title, p.text, err
}

// PageKey returns the key that identifies equal pages.
func PageKey(address string) string { return pageKey(address) }
