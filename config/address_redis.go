package config

import (
	"errors"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// RedisAddress is a parsed redis_url. It contains passwords, so do not print it.
type RedisAddress struct {
	Kind     RedisKind
	Hosts    []string // host:port each; for RedisSocket the path of the socket. Never empty
	TLS      bool
	Username string // of an ACL user; empty: the default user
	Password string
	DB       int    // always 0 in a cluster
	Master   string // for RedisSentinel: name of the master that the sentinels monitor
	// Credentials for the sentinels, which differ from those for Redis.
	SentinelUsername, SentinelPassword string
}

// RedisKind is the kind of deployment that a redis_url refers to.
type RedisKind int

// Kinds of Redis.
const (
	RedisServer RedisKind = iota // redis://[user:password@]host[:6379][/db]
	RedisSocket                  // redis-socket://[user:password@]/path[?db=1]
	// redis-sentinel://[user:password@]host[:26379],.../master[/db][?sentinel_username=&sentinel_password=]
	RedisSentinel
	RedisCluster // redis-cluster://[user:password@]host[:6379],...
)

const redisAllowed = "redis://[user:password@]host:6379/0, redis-socket:///path, " +
	"redis-sentinel://host,host/master or " +
	"redis-cluster://host,host, the three over the network with TLS as rediss...://; empty: embedded"

// redisAddress checks a redis_url.
func redisAddress(s string) error {
	_, err := ParseRedisAddress(s)
	return err
}

var redisKinds = map[string]RedisKind{
	"redis": RedisServer, "redis-socket": RedisSocket, "redis-sentinel": RedisSentinel, "redis-cluster": RedisCluster,
}

// ParseRedisAddress parses a redis_url. Reserved characters in user names and passwords must be percent-encoded.
// Errors never quote the address. It does not use net/url, which cannot parse lists of hosts.
func ParseRedisAddress(s string) (RedisAddress, error) {
	name, rest, _ := strings.Cut(s, "://")
	a := RedisAddress{TLS: strings.HasPrefix(name, "rediss")}
	if a.TLS {
		name = "redis" + strings.TrimPrefix(name, "rediss")
	}
	var ok bool
	if a.Kind, ok = redisKinds[name]; !ok || rest == "" || a.TLS && a.Kind == RedisSocket {
		return a, errors.New("must be " + redisAllowed)
	}
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, hasPath := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		if err := a.user(authority[:at]); err != nil {
			return a, err
		}
		authority = authority[at+1:]
	} else if strings.Contains(rest, "@") && a.Kind != RedisSocket {
		return a, errors.New("has a / before the @: encode / in a password as %2F")
	}
	if err := a.parameters(query); err != nil {
		return a, err
	}
	if a.Kind == RedisSocket {
		path, err := url.PathUnescape(path)
		if err != nil || authority != "" || !hasPath || path == "" {
			return a, errors.New("needs the absolute path of a socket: redis-socket:///run/redis.sock")
		}
		a.Hosts = []string{"/" + path}
		return a, nil
	}
	if err := a.hosts(authority); err != nil {
		return a, err
	}
	return a, a.path(path)
}

func (a *RedisAddress) user(info string) (err error) {
	name, password, _ := strings.Cut(info, ":")
	a.Username, err = url.PathUnescape(name)
	if err == nil {
		a.Password, err = url.PathUnescape(password)
	}
	if err != nil {
		return errors.New("has an invalid % escape in its user name or password: write % as %25")
	}
	return nil
}

// parameters parses the query string. Unknown parameters are errors.
func (a *RedisAddress) parameters(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("has an invalid query string")
	}
	known := map[RedisKind][]string{RedisSocket: {"db"}, RedisSentinel: {"master", "sentinel_username",
		"sentinel_password"}}[a.Kind]
	for name, list := range values {
		if !slices.Contains(known, name) || len(list) > 1 {
			return errors.New("has a parameter behind its ? that is not known there; known are: " +
				strings.Join(append(known, "no others"), ", "))
		}
	}
	a.Master, a.SentinelUsername, a.SentinelPassword = values.Get("master"), values.Get("sentinel_username"),
		values.Get("sentinel_password")
	return a.database(values.Get("db"))
}

func (a *RedisAddress) hosts(list string) error {
	port := "6379"
	if a.Kind == RedisSentinel {
		port = "26379"
	}
	for host := range strings.SplitSeq(list, ",") {
		h, p, err := net.SplitHostPort(host)
		if err != nil { // no port
			h, p = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), port
		}
		n, err := strconv.ParseUint(p, 10, 16)
		aHost := h != "" && !strings.ContainsAny(h, "[]@%# \t\r\n\"'<>\\")
		if strings.Contains(h, ":") {
			aHost = aHost && net.ParseIP(h) != nil
		}
		if err != nil || n == 0 || !aHost {
			return errors.New("needs host:port; for a cluster or sentinels, a comma-separated list of them")
		}
		a.Hosts = append(a.Hosts, net.JoinHostPort(h, p))
	}
	if a.Kind == RedisServer && len(a.Hosts) > 1 {
		return errors.New("names several hosts: use redis-sentinel:// or redis-cluster://")
	}
	return nil
}

// path parses the path: the name of the master and the number of the database.
func (a *RedisAddress) path(path string) error {
	db := path
	if a.Kind == RedisSentinel {
		master, rest, _ := strings.Cut(path, "/")
		if master != "" && a.Master != "" && master != a.Master {
			return errors.New("names two masters")
		}
		if master != "" {
			a.Master = master
		}
		if a.Master == "" {
			return errors.New("needs the name of the master that the sentinels monitor: " +
				"redis-sentinel://host,host/mymaster")
		}
		db = rest
	}
	if err := a.database(db); err != nil {
		return err
	}
	if a.Kind == RedisCluster && a.DB != 0 {
		return errors.New("has a database number, but Redis Cluster has only database 0")
	}
	return nil
}

func (a *RedisAddress) database(number string) error {
	if number == "" {
		return nil
	}
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return errors.New("has an invalid database number: use redis://host:6379/0")
	}
	a.DB = int(n)
	return nil
}
