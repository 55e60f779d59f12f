package health

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/governor"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// Doctor has a line on each model server that was asked.
func TestDoctorTellsOfServers(t *testing.T) {
	t.Parallel()
	rdb := redistest.Server(t)
	c := checkerOf(t, rdb)
	look := func() []Check { return named(t.Context(), c, "model server") }
	if got := look(); len(got) != 0 {
		t.Fatalf("before anybody was asked: %+v", got)
	}
	ask(t, rdb)
	got := look()
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	for i, want := range []string{
		"models.example (0123abcd): at most 1 call at a time, as learned; 1 call running, 0 waiting; 1 of 2 tries refused (too many requests)",
	} {
		if !strings.HasPrefix(got[i].Text, want) {
			t.Errorf("%q, want %q", got[i].Text, want)
		}
	}
}

// checkerOf returns a checker of a desk with this Redis.
func checkerOf(t *testing.T, rdb *redis.Client) Checker {
	var cfg config.Config
	cfg.RedisURL, cfg.DataDir = config.NewURL("redis-socket://"+rdb.Options().Addr), t.TempDir()
	d, err := wiring.OpenDesk(t.Context(), cfg, &view.Console{}, wiring.Attach)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return Checker{Config: cfg, Console: &view.Console{}, Desk: d, Store: storage.NewDir(t.TempDir())}
}

// ask makes two calls, one of which is refused while the other is in flight.
func ask(t *testing.T, rdb *redis.Client) {
	g := governor.Start(t.Context(), rdb, 0)
	t.Cleanup(func() { _ = g.Close() })
	var permit topicqueue.Permit
	for _, id := range []string{"first", "second"} {
		var err error
		if permit, err = g.Acquire(t.Context(), topicqueue.Call{ID: id, Server: "0123abcdef", Host: "models.example", Run: "run"}); err != nil {
			t.Fatal(err)
		}
	}
	g.Release(t.Context(), permit, topicqueue.CallEnd{Outcome: topicqueue.CallThrottled})
}

func TestModelServer(t *testing.T) {
	t.Parallel()
	away := made(func(r report) {
		modelServer(r, governor.Stat{Server: "short", Host: "h\xff", Down: time.Unix(0, 0), Why: "it \xff"})
	})[0]
	if away.Result != "note" || !away.waits || away.Hint == "" || !strings.HasPrefix(away.Text, "h? (short): no concurrency limit seen yet;") || !strings.Contains(away.Text, "; away since ") {
		t.Errorf("%+v", away)
	}
	if !strings.HasSuffix(away.Text, " (it ?)") {
		t.Errorf("the reason is not told: %s", away.Text)
	}
}
