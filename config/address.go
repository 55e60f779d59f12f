package config

import (
	"errors"
	"net/url"
	"path"
	"strings"
)

// The checks of addresses. Their errors never quote the address: it may hold a password, and net/url quotes it whole.

const redisAllowed = "redis://, rediss://, redis-socket:// or redis-sentinel://, such as redis://localhost:6379/0; " +
	"empty: embedded"

// redisAddress knows the schemes that asynq's own parser knows. The rest of the address is judged by who dials it:
// a sentinel address lists several hosts, which net/url does not read.
func redisAddress(s string) error {
	name, rest, ok := strings.Cut(s, "://")
	switch name {
	case "redis", "rediss", "redis-socket", "redis-sentinel":
		if ok && rest != "" {
			return nil
		}
	}
	return errors.New("must be " + redisAllowed)
}

const storageAllowed = "file:///absolute/dir; empty: data_dir"

func storageAddress(s string) error {
	if strings.HasPrefix(s, "s3://") {
		return errors.New("s3:// is not supported yet: use file:///absolute/dir, or leave it empty to store in data_dir")
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "file" || u.Host != "" || u.User != nil || !path.IsAbs(u.Path) ||
		u.RawQuery != "" || u.Fragment != "" {
		return errors.New("must be " + storageAllowed)
	}
	return nil
}

const httpAllowed = "http:// or https://, such as https://api.openai.com/v1"

func httpAddress(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return errors.New("must be " + httpAllowed)
	}
	return nil
}
