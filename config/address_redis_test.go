package config_test

import (
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/config"
)

func TestParseRedisAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]config.RedisAddress{
		"redis://localhost":         {Hosts: []string{"localhost:6379"}},
		"redis://localhost:6380/3":  {Hosts: []string{"localhost:6380"}, DB: 3},
		"redis://:pw@h/":            {Hosts: []string{"h:6379"}, Password: "pw"},
		"redis://desk:p%40%2Fw@h:1": {Hosts: []string{"h:1"}, Username: "desk", Password: "p@/w"},
		"redis://u:p@w@h":           {Hosts: []string{"h:6379"}, Username: "u", Password: "p@w"},
		"redis://[::1]:7000":        {Hosts: []string{"[::1]:7000"}},
		"redis://[::1]":             {Hosts: []string{"[::1]:6379"}},
		"rediss://u:p@h/2":          {Hosts: []string{"h:6379"}, TLS: true, Username: "u", Password: "p", DB: 2},

		"redis-socket:///run/redis.sock":        {Kind: config.RedisSocket, Hosts: []string{"/run/redis.sock"}},
		"redis-socket:///run/user@1/redis.sock": {Kind: config.RedisSocket, Hosts: []string{"/run/user@1/redis.sock"}},
		"redis-socket://u:p@/a%20b?db=4":        {Kind: config.RedisSocket, Hosts: []string{"/a b"}, Username: "u", Password: "p", DB: 4},

		"redis-sentinel://a,b:7,c/mymaster": {Kind: config.RedisSentinel, Hosts: []string{"a:26379", "b:7", "c:26379"}, Master: "mymaster"},
		"redis-sentinel://a?master=m":       {Kind: config.RedisSentinel, Hosts: []string{"a:26379"}, Master: "m"},
		"rediss-sentinel://u:p@a/m/1?sentinel_username=s&sentinel_password=q%26": {Kind: config.RedisSentinel, Hosts: []string{"a:26379"}, TLS: true,
			Username: "u", Password: "p", Master: "m", DB: 1, SentinelUsername: "s", SentinelPassword: "q&"},

		"redis-cluster://a:1,b:2":   {Kind: config.RedisCluster, Hosts: []string{"a:1", "b:2"}},
		"rediss-cluster://u:p@a,b/": {Kind: config.RedisCluster, Hosts: []string{"a:6379", "b:6379"}, TLS: true, Username: "u", Password: "p"},
	} {
		got, err := config.ParseRedisAddress(address)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", address, err, diff)
		}
	}
}

func TestParseRedisAddress_Errors(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"localhost:6379":                       "must be redis://",
		"http://h":                             "must be redis://",
		"rediss-socket:///s":                   "must be redis://",
		"redis://":                             "must be redis://",
		"redis://a,b":                          "redis-sentinel:// or redis-cluster://",
		"redis://h:0":                          "needs host:port",
		"redis://h:99999":                      "needs host:port",
		"redis://:canary@":                     "needs host:port",
		"redis://u:can/ary@h":                  "%2F",
		"redis://u:can%ary@h":                  "%25",
		"redis://h/one":                        "invalid database number",
		"redis://h/0?canary=1":                 "not known there",
		"redis-socket://canary":                "absolute path",
		"redis-sentinel://a,b":                 "name of the master",
		"redis-sentinel://a/x?master=y":        "two masters",
		"redis-sentinel://a/m?password=canary": "sentinel_password",
		"redis-cluster://a,b/1":                "Redis Cluster has only database 0",
		"redis-cluster://a,,b":                 "needs host:port",
	} {
		_, err := config.ParseRedisAddress(address)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

// FuzzRedisAddress: a parsed address has dialable hosts, and no error contains a password.
func FuzzRedisAddress(f *testing.F) {
	f.Add("rediss://user:%s@host:6379/0", "secret")
	f.Add("redis-sentinel://u:%s@h1,h2:1/m/2?sentinel_password=x", "p@ss/word?#12")
	f.Add("redis-cluster://[::1]:1,h", "")
	f.Add("redis-socket:///run/%2f?db=1", "")
	f.Fuzz(func(t *testing.T, address, password string) {
		a, err := config.ParseRedisAddress(strings.Replace(address, "%s", "canary"+password, 1))
		if err != nil {
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the error shows the password: %v", err)
			}
			return
		}
		if len(a.Hosts) == 0 || a.Kind == config.RedisSentinel && a.Master == "" {
			t.Fatalf("%q: incomplete: %+v", address, a)
		}
		for _, host := range a.Hosts {
			if a.Kind == config.RedisSocket {
				continue
			}
			if h, p, err := net.SplitHostPort(host); err != nil || h == "" || p == "" {
				t.Errorf("%q: host %q: %v", address, host, err)
			}
		}
	})
}
