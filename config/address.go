package config

import (
	"errors"
	"net"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// Checks of addresses. Their errors never quote the address, because it may contain a password. The errors of net/url
// do.

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

const httpAllowed = "http:// or https:// with a host, such as http://127.0.0.1:8000"

func httpAddress(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return errors.New("must be " + httpAllowed)
	}
	return nil
}

func listenAddress(s string) error {
	if host, port, err := net.SplitHostPort(s); err == nil && !strings.ContainsAny(host, " /@") {
		if _, err := strconv.ParseUint(port, 10, 16); err == nil {
			return nil
		}
	}
	return errors.New("must be host:port, such as 127.0.0.1:8080")
}
