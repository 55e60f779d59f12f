package config_test

import (
	"crypto/tls"
	"net"
	"reflect"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"nightdesk/config"
)

func TestRedisOptions(t *testing.T) {
	t.Parallel()
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	for address, want := range map[string]redis.UniversalOptions{
		"redis://localhost":         {Addrs: []string{"localhost:6379"}},
		"redis://localhost:6380/3":  {Addrs: []string{"localhost:6380"}, DB: 3},
		"redis://:pw@h/":            {Addrs: []string{"h:6379"}, Password: "pw"},
		"redis://desk:p%40%2Fw@h:1": {Addrs: []string{"h:1"}, Username: "desk", Password: "p@/w"},
		"redis://u:p@w@h":           {Addrs: []string{"h:6379"}, Username: "u", Password: "p@w"},
		"redis://[::1]:7000":        {Addrs: []string{"[::1]:7000"}},
		"redis://[::1]":             {Addrs: []string{"[::1]:6379"}},
		"rediss://u:p@h/2":          {Addrs: []string{"h:6379"}, TLSConfig: secure, Username: "u", Password: "p", DB: 2},

		"redis-socket:///run/redis.sock":        {Addrs: []string{"/run/redis.sock"}},
		"redis-socket:///run/user@1/redis.sock": {Addrs: []string{"/run/user@1/redis.sock"}},
		"redis-socket://u:p@/a%20b?db=4":        {Addrs: []string{"/a b"}, Username: "u", Password: "p", DB: 4},

		"redis-sentinel://a,b:7,c/mymaster": {Addrs: []string{"a:26379", "b:7", "c:26379"}, MasterName: "mymaster"},
		"redis-sentinel://a?master=m":       {Addrs: []string{"a:26379"}, MasterName: "m"},
		"rediss-sentinel://u:p@a/m/1?sentinel_username=s&sentinel_password=q%26": {Addrs: []string{"a:26379"},
			TLSConfig: secure, Username: "u", Password: "p", MasterName: "m", DB: 1, SentinelUsername: "s",
			SentinelPassword: "q&"},

		"redis-cluster://a:1,b:2": {IsClusterMode: true, Addrs: []string{"a:1", "b:2"}},
		"rediss-cluster://u:p@a,b/": {IsClusterMode: true, Addrs: []string{"a:6379", "b:6379"}, TLSConfig: secure,
			Username: "u", Password: "p"},
	} {
		got, err := config.RedisOptions(address)
		if err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %v\n%+v, want\n%+v", address, err, got, want)
		}
	}
}

func TestRedisOptions_Errors(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"localhost:6379", "http://h", "rediss-socket:///s", "redis://", "redis://a,b",
		"redis://h:0", "redis://h:99999", "redis://:canary@", "redis://u:can/ary@h", "redis://u:can%ary@h", "redis://h/one",
		"redis://h/0?canary=1", "redis-socket://canary", "redis-socket://", "redis-sentinel://a,b",
		"redis-sentinel://a/m?password=canary", "redis-cluster://a,b/1", "redis-cluster://a,,b", "redis://h#canary"} {
		if o, err := config.RedisOptions(address); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %+v, %v", address, o, err)
		}
	}
}

// FuzzRedisOptions: a parsed address has dialable hosts, and no error contains a password.
func FuzzRedisOptions(f *testing.F) {
	f.Add("rediss://user:%s@host:6379/0", "secret")
	f.Add("redis-sentinel://u:%s@h1,h2:1/m/2?sentinel_password=x", "p@ss/word?#12")
	f.Add("redis-cluster://[::1]:1,h", "")
	f.Add("redis-socket:///run/%2f?db=1", "")
	f.Fuzz(func(t *testing.T, address, password string) {
		a, err := config.RedisOptions(strings.Replace(address, "%s", "canary"+password, 1))
		if err != nil {
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the error shows the password: %v", err)
			}
			return
		}
		if len(a.Addrs) == 0 {
			t.Fatalf("%q: incomplete: %+v", address, a)
		}
		for _, host := range a.Addrs {
			if strings.HasPrefix(host, "/") {
				continue
			}
			if h, p, err := net.SplitHostPort(host); err != nil || h == "" || p == "" {
				t.Errorf("%q: host %q: %v", address, host, err)
			}
		}
	})
}
