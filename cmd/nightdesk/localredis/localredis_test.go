package localredis_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nightdesk/cmd/nightdesk/localredis"
)

func TestWithoutServerProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	if _, err := localredis.Attach(t.Context(), dir); !errors.Is(err, localredis.ErrNotRunning) {
		t.Errorf("Attach: %v, want ErrNotRunning", err)
	}
	r, err := localredis.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Client.Set(t.Context(), "k", "v", 0).Err(); err != nil || !r.InProcess {
		t.Errorf("set: %v, in process: %v", err, r.InProcess)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestServerIsSharedAndKeepsItsData(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("redis-server is not on PATH; install it (Debian: redis-server)")
		}
		t.Skip("redis-server is not on PATH")
	}
	// A long path: the socket must go elsewhere.
	dir := filepath.Join(t.TempDir(), strings.Repeat("long-directory-name/", 6))
	ctx := t.Context()
	open := func(how func() (*localredis.Redis, error)) *localredis.Redis {
		t.Helper()
		r, err := how()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := open(func() (*localredis.Redis, error) { return localredis.Open(ctx, dir) })
	if first.InProcess {
		t.Fatal("the redis-server on PATH was not used")
	}
	if err := first.Client.Set(ctx, "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	second := open(func() (*localredis.Redis, error) { return localredis.Attach(ctx, dir) })
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if v, err := second.Client.Get(ctx, "k").Result(); err != nil || v != "v" {
		t.Errorf("after the first user left: %q, %v", v, err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := localredis.Attach(ctx, dir); !errors.Is(err, localredis.ErrNotRunning) {
		t.Errorf("after the last user left: %v, want ErrNotRunning", err)
	}
	again := open(func() (*localredis.Redis, error) { return localredis.Open(ctx, dir) })
	if v, err := again.Client.Get(ctx, "k").Result(); err != nil || v != "v" {
		t.Errorf("after a restart: %q, %v", v, err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
