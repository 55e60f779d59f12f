package main_test

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"

	"nightdesk/cmd/nightdesk/manual"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/eventtest"
)

// firstRun sets RUN to the first run of a batch: firstrun BATCH.
func firstRun(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec("nightdesk", "list", "--batch", args[0], "--json"))
	line, _, _ := strings.Cut(ts.ReadFile("stdout"), "\n")
	var run struct {
		ID string `json:"run_id"`
	}
	ts.Check(json.Unmarshal([]byte(line), &run))
	ts.Setenv("RUN", run.ID)
}

// checkMessages checks the messages that watch --json has printed, which end with the run: messages FILE FROM.
func checkMessages(ts *testscript.TestScript, _ bool, args []string) {
	from, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	var events []topicqueue.Event
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		_, _, err := eventtest.Parse([]byte(line))
		ts.Check(err)
		var e topicqueue.Event
		ts.Check(json.Unmarshal([]byte(line), &e))
		if e.Status == topicqueue.StatusDelta {
			continue
		}
		if from++; e.Seq != from {
			ts.Fatalf("message %d where %d is due", e.Seq, from)
		}
		events = append(events, e)
	}
	if n := len(events); n == 0 || events[n-1].Status != topicqueue.StatusComplete {
		ts.Fatalf("%d messages, the last is not complete", n)
	}
	if faults := eventtest.Faults(events); events[0].Seq == 1 && len(faults) > 0 {
		ts.Fatalf("%s\n%s", strings.Join(faults, "\n"), eventtest.Lines(events))
	}
}

// keysOf returns a client and the keys of one run whose name ends like this.
func keysOf(ts *testscript.TestScript, run, end string) (redis.UniversalClient, []string) {
	opt, err := asynq.ParseRedisURI(ts.Getenv("REDIS_URL"))
	ts.Check(err)
	rdb, _ := opt.MakeRedisClient().(redis.UniversalClient)
	ts.Defer(func() { rdb.Close() })
	keys, err := rdb.Keys(context.Background(), "*{"+run+"}*"+end).Result()
	ts.Check(err)
	if len(keys) == 0 {
		ts.Fatalf("run %s has no keys", run)
	}
	return rdb, keys
}

// awaitWatched waits until somebody reads along with a run: watched RUN.
func awaitWatched(ts *testscript.TestScript, _ bool, args []string) {
	rdb, _ := keysOf(ts, args[0], "")
	until(ts, "somebody watches "+args[0], func() bool {
		return rdb.Exists(context.Background(), "nightdesk:{"+args[0]+"}:watched").Val() == 1
	})
}

// cutStream leaves only the last events of a run: cut RUN N.
func cutStream(ts *testscript.TestScript, _ bool, args []string) {
	rdb, keys := keysOf(ts, args[0], ":events")
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(rdb.XTrimMaxLen(context.Background(), keys[0], n).Err())
}

// forgetRun removes a run from the queue, as its expiry does: forget RUN.
func forgetRun(ts *testscript.TestScript, _ bool, args []string) {
	rdb, keys := keysOf(ts, args[0], "")
	ts.Check(rdb.Del(context.Background(), keys...).Err())
}

// damageRun puts something else in the place of a run in the queue: damage RUN.
func damageRun(ts *testscript.TestScript, _ bool, args []string) {
	rdb, keys := keysOf(ts, args[0], ":run")
	ts.Check(rdb.Set(context.Background(), keys[0], "no run", 0).Err())
}

// waitLine waits until a file has a text: waitline FILE TEXT.
func waitLine(ts *testscript.TestScript, _ bool, args []string) {
	until(ts, args[1]+" in "+args[0], func() bool {
		data, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && strings.Contains(string(data), args[1])
	})
}

// TestManualNamesEveryField: a client of the messages can be written from the manual alone.
func TestManualNamesEveryField(t *testing.T) {
	t.Parallel()
	page, ok := manual.Find("watching")
	if !ok {
		t.Fatal("there is no topic watching")
	}
	for _, name := range eventtest.Vocabulary() {
		if !strings.Contains(page.Text, "`"+name+"`") && !strings.Contains(page.Text, `"`+name+`":`) {
			t.Errorf("the page does not name %s", name)
		}
	}
}
