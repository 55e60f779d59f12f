package wiring

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"nightdesk/cmd/nightdesk/view"
)

// redisFinding is a possible problem with a Redis server.
type redisFinding struct {
	Level redisLevel
	Text  string
	Hint  string
}

type redisLevel int

// Levels of findings, in increasing order of severity.
const (
	RedisMemory     redisLevel = iota // no problem: how much memory it uses, its limit and its eviction policy
	redisUnknown                      // the setting cannot be determined
	redisForgetful                    // a restart loses runs
	RedisNearlyFull                   // writes will soon fail
	RedisEvicting                     // runs may be evicted at any time
	redisTooOld                       // nightdesk does not work with it
)

// The oldest Redis version that supports asynq's scripts.
const leastMajor, leastMinor = 6, 2

// InspectRedis looks for settings that can lose runs, on every master of a cluster. It uses only INFO, because some
// servers restrict CONFIG to their owner.
func InspectRedis(ctx context.Context, rdb redis.UniversalClient) []redisFinding {
	cluster, ok := rdb.(*redis.ClusterClient)
	if !ok {
		return inspectServer(ctx, rdb)
	}
	var mu sync.Mutex
	var all []redisFinding
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		found := inspectServer(ctx, master)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, found...)
		return nil
	})
	if err != nil {
		all = append(all, redisFinding{redisUnknown,
			fmt.Sprintf("not all masters of the cluster could be checked: %v", err), ""})
	}
	slices.SortFunc(all, func(x, y redisFinding) int { return strings.Compare(x.Text, y.Text) })
	return all
}

// memoryOf describes the memory usage, limit and eviction policy of Redis.
func memoryOf(info map[string]string) []redisFinding {
	used, err := strconv.ParseInt(info["used_memory"], 10, 64)
	if err != nil {
		return nil
	}
	limit := "no limit"
	if most, _ := strconv.ParseInt(info["maxmemory"], 10, 64); most > 0 {
		limit = "at most " + view.Size(most)
	}
	said := view.Size(used) + ", " + limit
	if policy := info["maxmemory_policy"]; policy != "" {
		said += ", " + policy
	}
	return []redisFinding{{Level: RedisMemory, Text: said}}
}

func inspectServer(ctx context.Context, rdb redis.UniversalClient) []redisFinding {
	cli, where := "redis-cli", "the Redis"
	if c, ok := rdb.(*redis.Client); ok {
		cli, where = redisCLI(c.Options())
	}
	text, err := rdb.Info(ctx).Result()
	if err != nil {
		return []redisFinding{{redisUnknown, fmt.Sprintf("%s does not tell its settings (%v)", where, err),
			"Make sure that maxmemory-policy is noeviction and appendonly is yes there."}}
	}
	return judgeRedis(text, where, cli)
}

// infoOf parses the response to INFO.
func infoOf(text string) map[string]string {
	info := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[name] = value
		}
	}
	return info
}

// judgeRedis evaluates the response to INFO. where: the server name for messages; cli: the redis-cli command for it.
func judgeRedis(text, where, cli string) []redisFinding {
	info := infoOf(text)
	found := memoryOf(info)
	if version := info["redis_version"]; tooOld(version) {
		found = append(found, redisFinding{redisTooOld, fmt.Sprintf("%s is version %s: %d.%d or later is needed", where,
			version, leastMajor, leastMinor),
			"Install a newer Redis or Valkey."})
	}
	switch policy := info["maxmemory_policy"]; policy {
	case "noeviction":
	case "":
		found = append(found, redisFinding{redisUnknown, where + " does not tell its maxmemory-policy",
			"Make sure that it is noeviction. With any other policy, a full Redis deletes runs."})
	default:
		found = append(found,
			redisFinding{RedisEvicting, fmt.Sprintf("maxmemory-policy is %s at %s: a full Redis deletes runs", policy, where),
				fmt.Sprintf("Fix it with `%s CONFIG SET maxmemory-policy noeviction` and make the same change in redis.conf.",
					cli)})
	}
	used, _ := strconv.ParseInt(info["used_memory"], 10, 64)
	if most, _ := strconv.ParseInt(info["maxmemory"], 10, 64); most > 0 && used >= most/10*9 {
		found = append(found,
			redisFinding{RedisNearlyFull, fmt.Sprintf("%s uses %s of its maxmemory of %s; when it is full, all "+
				"runs stop",
				where, view.Size(used), view.Size(most)),
				"Raise its maxmemory, or delete old runs with `nightdesk purge`."})
	}
	if info["aof_enabled"] == "0" {
		found = append(found,
			redisFinding{redisForgetful, fmt.Sprintf("appendonly is off at %s: a restart loses the queue", where),
				fmt.Sprintf("Fix it with `%s CONFIG SET appendonly yes` and make the same change in redis.conf.", cli)})
	}
	return found
}

// redisCLI returns the redis-cli command for a server, without its password, and the server name for messages.
func redisCLI(o *redis.Options) (cli, where string) {
	cli = "redis-cli"
	if o.Network == "unix" {
		return cli + " -s " + o.Addr, filepath.Base(o.Addr)
	}
	host, port, err := net.SplitHostPort(o.Addr)
	if err != nil { // the client of a sentinel has no address
		return cli, "the master"
	}
	cli += " -h " + host + " -p " + port
	if o.TLSConfig != nil {
		cli += " --tls"
	}
	return cli, o.Addr
}

// tooOld reports whether a Redis version is too old. An unreadable version is not.
func tooOld(version string) bool {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	x, err1 := strconv.Atoi(major)
	y, err2 := strconv.Atoi(minor)
	if err1 != nil || err2 != nil {
		return false
	}
	return x < leastMajor || x == leastMajor && y < leastMinor
}
