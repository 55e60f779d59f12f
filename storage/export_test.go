package storage

import (
	"context"
	"time"
)

// NewHastyS3 is NewS3 with short pauses, fewer attempts and this timeout for each, for tests of failures.
func NewHastyS3(ctx context.Context, settings S3Settings, patience time.Duration) (*S3, error) {
	hasty := usualPace
	hasty.attempts, hasty.pause, hasty.patience, hasty.rate = 4, 5*time.Millisecond, patience, 64<<20
	return newS3(ctx, settings, hasty)
}

// ContentType is the content type for browsers that follow a link.
var ContentType = contentType
