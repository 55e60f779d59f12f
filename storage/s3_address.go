package storage

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// bucketName matches the names that all S3 servers accept.
var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// ParseS3 splits s3://bucket/prefix and trims slashes around the prefix. Errors do not repeat the address, because it
// may contain a password by mistake.
func ParseS3(address string) (bucket, prefix string, err error) {
	rest, ok := strings.CutPrefix(address, "s3://")
	if !ok {
		return "", "", errors.New("the address of a bucket must have the form s3://bucket/prefix")
	}
	bucket, prefix, _ = strings.Cut(rest, "/")
	prefix = strings.Trim(prefix, "/")
	return bucket, prefix, S3Settings{Bucket: bucket, Prefix: prefix}.check()
}

// check rejects settings that no server can accept.
func (s S3Settings) check() error {
	if strings.ContainsAny(s.Bucket, "@:") {
		return errors.New("the address of a bucket must not contain a user or password: set AWS_ACCESS_KEY_ID " +
			"and AWS_SECRET_ACCESS_KEY")
	}
	if !bucketName.MatchString(s.Bucket) {
		return fmt.Errorf("bucket name %q: must be 3 to 63 lower-case letters, digits, dots and hyphens", s.Bucket)
	}
	if s.Prefix != "" {
		if err := checkKey(s.Prefix); err != nil {
			return fmt.Errorf("folder in bucket %s: %w", s.Bucket, err)
		}
	}
	if (s.AccessKey == "") != (s.SecretKey == "") {
		return errors.New("credentials for S3: give the access key and the secret key, or neither")
	}
	return nil
}

// setEndpoint takes the host from the address of a server, unless it cannot be that of an S3 server. The error does not
// repeat the address, because it may contain a password.
func (s *S3) setEndpoint(address string) error {
	u, err := url.Parse(address)
	aServer := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
	if !aServer || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New(s.endpoint + " must be http://host:port or https://host:port, without user, password and query")
	}
	s.host = u.Host
	return nil
}
