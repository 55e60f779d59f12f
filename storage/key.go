package storage

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxKey  = 512 // bytes; S3 allows 1,024 with the prefix
	maxPart = 255 // bytes; the limit of common file systems
)

// checkKey rejects keys that could leave the store or mean different things on different systems.
func checkKey(key string) error {
	plain := utf8.ValidString(key) && !strings.ContainsFunc(key, foreign)
	if key == "" || len(key) > maxKey || strings.HasPrefix(key, "/") || !plain {
		return fmt.Errorf("storage key %q: not a relative slash-separated path of at most %d bytes of plain text", key,
			maxKey)
	}
	for _, part := range strings.Split(key, "/") {
		elsewhere := part == "" || part == "." || part == ".."
		if elsewhere || len(part) > maxPart || strings.HasPrefix(part, tempPrefix) {
			return fmt.Errorf("storage key %q: part %q is not allowed", key, part)
		}
	}
	return nil
}

// foreign reports whether r is a separator on some systems or is invalid in the XML of a bucket listing.
func foreign(r rune) bool {
	return r == '\\' || unicode.IsControl(r) || r == '\ufffe' || r == '\uffff'
}
