// Package lua holds the scripts that change nightdesk's data in Redis, and reads what they return. Only redisqueue and
// the packages below it import it; no other package knows keys or scripts.
package lua

import (
	"embed"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Prefix begins the name of every key and channel.
const Prefix = "nightdesk:"

//go:embed *.lua
var files embed.FS

// Script returns the script NAME.lua. It panics when there is no such file.
func Script(name string) *redis.Script { return redis.NewScript(read(name)) }

// RunScript is Script for a script on the keys of one run. It stands behind prelude.lua, whose functions it calls.
func RunScript(name string) *redis.Script { return redis.NewScript(read("prelude") + read(name)) }

func read(name string) string {
	text, err := files.ReadFile(name + ".lua")
	if err != nil {
		panic(err) // embedded: the name is wrong
	}
	return string(text)
}

// Text returns value i of a reply; empty when it is no text or there are fewer values.
func Text(values []any, i int) string {
	if i >= len(values) {
		return ""
	}
	s, _ := values[i].(string)
	return s
}

// Number returns value i of a reply, a number or its digits; 0 when it is neither or there are fewer values.
func Number(values []any, i int) int {
	if i < len(values) {
		if n, ok := values[i].(int64); ok {
			return int(n)
		}
	}
	n, _ := strconv.Atoi(Text(values, i))
	return n
}

// Time reads milliseconds since 1970; zero for "0" and for what is no number.
func Time(ms string) time.Time {
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil || n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}
