package intake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/storage"
	"nightdesk/topicqueue/redisqueue/shared"
)

// MaxList is the maximum size in bytes of a schedule's list of topics.
const MaxList = 64 << 20

// NormalSource returns a name for a list of topics that is valid for every process on this machine. Files get an
// absolute path.
func NormalSource(source string) (string, error) {
	scheme, _, remote := strings.Cut(source, "://")
	switch {
	case !remote:
		file, err := filepath.Abs(source)
		if err != nil {
			return "", fmt.Errorf("list of topics %s: %w", source, err)
		}
		return file, nil
	case scheme == "s3":
		_, _, err := bucketKey(source)
		return source, err
	case scheme == "http" || scheme == "https":
		u, err := url.Parse(source)
		if err != nil || u.Host == "" {
			return "", view.Usage(fmt.Errorf("list of topics %s: not an address", fetch.Redact(source)))
		}
		if u.User != nil {
			return "", view.Usage(fmt.Errorf("list of topics %s: an address with user or password is not kept; use a file, "+
				"or s3://bucket/key with the AWS_* credentials", fetch.Redact(source)))
		}
		return source, nil
	}
	return "", view.Usage(fmt.Errorf("list of topics: %s:// is not supported; give a file, an http(s) address or "+
		"s3://bucket/key", scheme))
}

// ShownSource returns the name of a list of topics for display. It hides keys in addresses.
func ShownSource(source string) string {
	if strings.HasPrefix(source, "http") && strings.Contains(source, "://") {
		return fetch.Redact(source)
	}
	return source
}

// bucketKey splits s3://bucket/folder/key into s3://bucket/folder and key.
func bucketKey(source string) (bucket, key string, err error) {
	bucket, key = path.Split(strings.TrimPrefix(source, "s3://"))
	bucket = "s3://" + strings.TrimSuffix(bucket, "/")
	if _, _, err := storage.ParseS3(bucket); err != nil || key == "" {
		return "", "", view.Usage(fmt.Errorf("list of topics %s: give s3://bucket/key", source))
	}
	return bucket, key, nil
}

// OpenSource opens a list of topics.
func OpenSource(ctx context.Context, cfg config.Config, d *wiring.Desk, source string) (io.ReadCloser, error) {
	scheme, _, remote := strings.Cut(source, "://")
	if !remote {
		return os.Open(source) // the error contains the name
	}
	var body []byte
	if scheme == "s3" {
		bucket, key, err := bucketKey(source)
		if err != nil {
			return nil, err
		}
		store, err := wiring.OpenBucket(ctx, cfg, bucket)
		if err != nil {
			return nil, err
		}
		if body, err = store.Get(ctx, key); err != nil {
			return nil, err
		}
	} else {
		client, err := wiring.NewFetcher(cfg, shared.NewPace(d.Redis))
		if err != nil {
			return nil, err
		}
		defer client.Close()
		answer, err := client.Do(ctx, fetch.Request{URL: source, MaxBytes: MaxList})
		var refused *fetch.RefusedError
		if errors.As(err, &refused) && refused.Reason == fetch.RefusedAddress {
			return nil, view.Hint(fmt.Errorf("%w; if it is your own server, add its host to fetch.allow", err),
				"For example NIGHTDESK_FETCH_ALLOW=lists.internal")
		}
		if err != nil {
			return nil, err
		}
		if answer.Type == "text/html" { // otherwise each line would be a topic
			return nil, fmt.Errorf("%s is a web page, not a list of topics", ShownSource(source))
		}
		body = answer.Body
	}
	return io.NopCloser(bytes.NewReader(body)), nil
}
