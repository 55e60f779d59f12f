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

const storageAllowed = "file:///absolute/dir or s3://bucket/prefix; empty: data_dir"

func storageAddress(s string) error {
	u, err := url.Parse(s)
	wrong := errors.New("must be " + storageAllowed)
	switch {
	case err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return wrong
	case u.Scheme == "file" && u.Host == "" && path.IsAbs(u.Path):
		return nil
	case u.Scheme == "s3" && u.Host != "" && u.Port() == "" && path.Clean("/"+u.Path) == "/"+strings.Trim(u.Path, "/"):
		return nil
	}
	return wrong
}

const httpAllowed = "http:// or https://, such as https://api.openai.com/v1"

func httpAddress(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return errors.New("must be " + httpAllowed)
	}
	return nil
}
