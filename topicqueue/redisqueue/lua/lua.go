// Package lua holds the scripts that change nightdesk's data in Redis, and decodes their replies. Only redisqueue and
// the packages below it import it; no other package knows keys or scripts.
package lua

import (
	"embed"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Prefix is the prefix of every key and channel.
const Prefix = "nightdesk:"

//go:embed *.lua
var files embed.FS

// Script returns the script NAME.lua. It panics if there is no such file.
func Script(name string) *redis.Script { return redis.NewScript(read(name)) }

// RunScript is like Script, but for a script on the keys of one run. It prepends prelude.lua, whose functions the
// script calls.
func RunScript(name string) *redis.Script { return redis.NewScript(read("prelude") + read(name)) }

func read(name string) string {
	text, err := files.ReadFile(name + ".lua")
	if err != nil {
		panic(err) // the files are embedded, so the name is wrong
	}
	return string(text)
}

// Text returns value i of a reply; empty if it is not a string or there are fewer values.
func Text(values []any, i int) string {
	if i >= len(values) {
		return ""
	}
	s, _ := values[i].(string)
	return s
}

// Number returns value i of a reply, a number or a string of digits; 0 if it is neither or there are fewer values.
func Number(values []any, i int) int {
	if i < len(values) {
		if n, ok := values[i].(int64); ok {
			return int(n)
		}
	}
	n, _ := strconv.Atoi(Text(values, i))
	return n
}

// Time converts milliseconds since 1970; "0" and text that is not a number give the zero time.
func Time(ms string) time.Time {
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil || n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}
