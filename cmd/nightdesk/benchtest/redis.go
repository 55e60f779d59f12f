package benchtest

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedisCost is what a Redis has used since it started.
type RedisCost struct {
	Commands  map[string]int // by name, including those within scripts
	Calls     int            // of all commands
	Processor time.Duration
	Memory    int // bytes
}

var (
	commandLine = regexp.MustCompile(`(?m)^cmdstat_([^:]+):calls=(\d+)`)
	infoNumber  = regexp.MustCompile(`(?m)^(used_cpu_sys|used_cpu_user|used_memory):([\d.]+)`)
)

// CostOf reads the cost of a Redis.
func CostOf(ctx context.Context, rdb redis.UniversalClient) (RedisCost, error) {
	c := RedisCost{Commands: map[string]int{}}
	info, err := rdb.Info(ctx, "commandstats", "cpu", "memory").Result()
	if err != nil {
		return c, fmt.Errorf("ask Redis what it has done: %w", err)
	}
	for _, m := range commandLine.FindAllStringSubmatch(info, -1) {
		n, _ := strconv.Atoi(m[2])
		c.Commands[m[1]] = n
		c.Calls += n
	}
	for _, m := range infoNumber.FindAllStringSubmatch(info, -1) {
		n, _ := strconv.ParseFloat(m[2], 64)
		if m[1] == "used_memory" {
			c.Memory = int(n)
		} else {
			c.Processor += time.Duration(n * float64(time.Second))
		}
	}
	return c, nil
}
