package config

import (
	"cmp"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

const redisAllowed = "redis://[user:password@]host:6379/0, redis-socket:///path, " +
	"redis-sentinel://host,host/master or " +
	"redis-cluster://host,host, the three over the network with TLS as rediss...://; empty: embedded"

// redisForms has the parameters that a redis_url can have, by its scheme:
//
//	redis://[user:password@]host[:6379][/db]
//	redis-socket://[user:password@]/path[?db=1]
//	redis-sentinel://[user:password@]host[:26379],.../master[/db][?sentinel_username=...&sentinel_password=...]
//	redis-cluster://[user:password@]host[:6379],...
var redisForms = map[string][]string{
	"redis": nil, "redis-socket": {"db"}, "redis-sentinel": {"master", "sentinel_username", "sentinel_password"},
	"redis-cluster": nil,
}

func redisAddress(s string) error {
	_, err := RedisOptions(s)
	return err
}

// RedisOptions parses a redis_url. Reserved characters in user names and passwords must be percent-encoded. The error
// never quotes the address, because it may contain a password.
func RedisOptions(address string) (*redis.UniversalOptions, error) {
	wrong := errors.New("must be " + redisAllowed + ". Percent-encode special characters in a password")
	scheme, rest, _ := strings.Cut(address, "://")
	form := strings.Replace(scheme, "rediss", "redis", 1)
	known, ok := redisForms[form]
	end := strings.IndexAny(rest+"/", "/?#")
	user := strings.LastIndexByte(rest[:end], '@') + 1
	u, err := url.Parse("redis://" + rest[:user] + "hosts" + rest[end:]) // which cannot parse lists of hosts
	if err != nil || !ok || u.Fragment != "" || scheme == "rediss-socket" {
		return nil, wrong
	}
	query := u.Query()
	for name := range query {
		if !slices.Contains(known, name) {
			return nil, wrong
		}
	}
	o := &redis.UniversalOptions{Username: u.User.Username(), MasterName: query.Get("master"),
		SentinelUsername: query.Get("sentinel_username"), SentinelPassword: query.Get("sentinel_password"),
		IsClusterMode: form == "redis-cluster"}
	o.Password, _ = u.User.Password()
	if scheme != form {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12} // the server name is that of the dialled host
	}
	port, db := "6379", strings.Trim(u.Path, "/")
	switch form {
	case "redis-socket":
		o.Addrs, db = []string{u.Path}, query.Get("db")
	case "redis-sentinel":
		port = "26379"
		master, number, _ := strings.Cut(db, "/")
		o.MasterName, db = cmp.Or(master, o.MasterName), number
	}
	if form != "redis-socket" {
		if o.Addrs, err = redisHosts(rest[user:end], port); err != nil {
			return nil, wrong
		}
	}
	n, err := strconv.ParseUint(cmp.Or(db, "0"), 10, 16)
	o.DB = int(n)
	switch {
	case err != nil, form == "redis" && len(o.Addrs) > 1, form == "redis-cluster" && o.DB > 0:
		return nil, wrong
	case form == "redis-sentinel" && o.MasterName == "", form == "redis-socket" && (u.Path == "" || user < end):
		return nil, wrong
	}
	return o, nil
}

// redisHosts returns the addresses in a list of hosts. port: of a host that names none.
func redisHosts(list, port string) (addresses []string, err error) {
	for host := range strings.SplitSeq(list, ",") {
		u, err := url.Parse("//" + host)
		if err != nil || u.Hostname() == "" {
			return nil, errors.New("not a host")
		}
		at := cmp.Or(u.Port(), port)
		if n, err := strconv.ParseUint(at, 10, 16); err != nil || n == 0 {
			return nil, errors.New("not a port")
		}
		addresses = append(addresses, net.JoinHostPort(u.Hostname(), at))
	}
	return addresses, nil
}
