package main_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestRunWithoutRoom lets Redis run out of room in the middle of a run: there is one message that says what to do, and
// the command ends.
func TestRunWithoutRoom(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fill func(t *testing.T, server *redistest.Process, rdb *redis.Client) error
		want string
	}{
		"disk": {func(t *testing.T, server *redistest.Process, rdb *redis.Client) error {
			gone := filepath.Join(t.TempDir(), "gone")
			err := errors.Join(os.Mkdir(gone, 0o700), rdb.ConfigSet(t.Context(), "dir", gone).Err(), os.Remove(gone),
				rdb.ConfigSet(t.Context(), "save", "3600 1").Err(), rdb.BgSave(t.Context()).Err())
			until(t, "a failed snapshot", func() bool {
				return strings.Contains(rdb.Info(t.Context(), "persistence").Val(), "rdb_last_bgsave_status:err")
			})
			return err
		}, "the run cannot go on: MISCONF"},
		"memory": {func(t *testing.T, server *redistest.Process, rdb *redis.Client) error {
			return rdb.ConfigSet(t.Context(), "maxmemory", "1").Err()
		}, "the run cannot go on: OOM command not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, "--save", "", "--appendonly", "no", "--port", "PORT", "--enable-protected-configs", "yes")
			f := newFleet(t, time.Second, "REDIS_URL=redis://"+server.Addr(), "NIGHTDESK_LOG_LEVEL=")
			l := &logged{name: "run", cmd: f.command("run", "How is a harbour operated?", "--kb", "docs", "--preset", "medium")}
			l.cmd.Stderr = l
			if err := l.cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.cmd.Process.Kill() })
			l.says(t, "planning")
			rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
			t.Cleanup(func() { rdb.Close() })
			if err := tc.fill(t, server, rdb); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- l.cmd.Wait() }()
			select {
			case err := <-ended:
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.ExitCode() != 1 {
					t.Errorf("run ended with %v", err)
				}
			case <-time.After(time.Minute):
				t.Error("run goes on")
			}
			if said := l.text(); strings.Count(said, tc.want) != 1 || !strings.Contains(said, "run the command again") || strings.Contains(said, "asynq") {
				t.Errorf("run says:\n%s", said)
			}
		})
	}
}
