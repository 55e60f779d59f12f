package health

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/cmd/nightdesk/view"
)

// The oldest Redis version that supports asynq's scripts.
const leastMajor, leastMinor = 6, 2

// WarnOfRedis prints problems of Redis before tasks are added or processed.
func (c Checker) WarnOfRedis(ctx context.Context) {
	r := report{"redis", new([]Check)}
	c.inspect(ctx, r)
	for _, check := range *r.results {
		if check.Result != OK {
			c.Console.Warn("%s. %s", check.Text, check.Hint)
		}
	}
}

// inspect looks for clocks that differ, and for settings that can lose runs, on every master of a cluster. It uses only
// INFO, because some servers restrict CONFIG to their owner. It returns how much memory is used.
func (c Checker) inspect(ctx context.Context, r report) (memory string) {
	clock(r.named("clock"), c.Desk.Clock.Ahead())
	cluster, ok := c.Desk.Redis.(*redis.ClusterClient)
	if !ok {
		return inspectServer(ctx, r, c.Desk.Redis)
	}
	var mu sync.Mutex
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		memory += inspectServer(ctx, r, master)
		return nil
	})
	if err != nil {
		r.ok("not all masters of the cluster could be checked: %v", err)
	}
	return memory
}

// clock reports a difference of 30 s or more between the clocks of this machine and Redis. ahead is negative if this
// machine is behind.
func clock(r report, ahead time.Duration) {
	if ahead.Abs() < 30*time.Second { // asynq uses the clocks of the machines and tolerates this
		return
	}
	side := "ahead of"
	if ahead < 0 {
		side = "behind"
	}
	r.note("Runs and schedules use the clock of Redis. Synchronize both clocks (NTP); otherwise tasks may be handed out "+
		"twice. This is harmless but fills the log.", "the clock of this machine is %s %s the clock of Redis",
		ahead.Abs().Round(time.Second), side)
}

func inspectServer(ctx context.Context, r report, rdb redis.UniversalClient) (memory string) {
	cli, where := "redis-cli", "the Redis"
	if c, ok := rdb.(*redis.Client); ok {
		cli, where = redisCLI(c.Options())
	}
	text, err := rdb.Info(ctx).Result()
	if err != nil {
		r.ok("%s does not tell its settings (%v)", where, err).Hint =
			"Make sure that maxmemory-policy is noeviction and appendonly is yes there."
		return ""
	}
	return judgeRedis(r, text, where, cli)
}

// judgeRedis evaluates the response to INFO, and returns how much memory is used. where: the server name for messages;
// cli: the redis-cli command for it.
func judgeRedis(r report, text, where, cli string) (memory string) {
	info := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[name] = value
		}
	}
	if version := info["redis_version"]; tooOld(version) {
		r.failed("Install a newer Redis or Valkey.", "%s is version %s: %d.%d or later is needed", where, version,
			leastMajor, leastMinor)
	}
	policy := info["maxmemory_policy"]
	switch policy {
	case "noeviction":
	case "":
		r.ok("%s does not tell its maxmemory-policy", where).Hint =
			"Make sure that it is noeviction. With any other policy, a full Redis deletes runs."
	default:
		r.failed(fmt.Sprintf("Fix it with `%s CONFIG SET maxmemory-policy noeviction` and make the same change in "+
			"redis.conf.", cli), "maxmemory-policy is %s at %s: a full Redis deletes runs", policy, where)
	}
	used, err := strconv.ParseInt(info["used_memory"], 10, 64)
	most, _ := strconv.ParseInt(info["maxmemory"], 10, 64)
	limit := "no limit"
	if most > 0 {
		limit = "at most " + view.Size(most)
	}
	if most > 0 && used >= most/10*9 {
		r.note("Raise its maxmemory, or delete old runs with `nightdesk purge`.",
			"%s uses %s of its maxmemory of %s; when it is full, all runs stop", where, view.Size(used),
			view.Size(most)).Stops = true
	}
	if info["aof_enabled"] == "0" {
		r.note(fmt.Sprintf("Fix it with `%s CONFIG SET appendonly yes` and make the same change in redis.conf.", cli),
			"appendonly is off at %s: a restart loses the queue", where)
	}
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintf("; memory: %s, %s, %s", view.Size(used), limit, policy), ", ")
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
