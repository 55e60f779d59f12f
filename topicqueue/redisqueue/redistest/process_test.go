package redistest_test

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestPortInUse: if another program uses the port for a while, Begin returns when the server runs on it.
func TestPortInUse(t *testing.T) {
	t.Parallel()
	p := redistest.Start(t, "--port", "PORT", "--save", "", "--appendonly", "yes")
	rdb := redis.NewClient(&redis.Options{Addr: p.Addr()})
	defer rdb.Close()
	if err := rdb.Set(t.Context(), "key", "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	p.End(syscall.SIGTERM)
	other, err := net.Listen("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	begun := make(chan struct{})
	go func() {
		defer close(begun)
		p.Begin()
	}()
	select {
	case <-begun:
		t.Error("a server is said to be there while another program has its port")
	case <-time.After(300 * time.Millisecond): // it may not happen meanwhile
	}
	other.Close()
	<-begun
	if got, err := rdb.Get(t.Context(), "key").Result(); err != nil || got != "value" {
		t.Errorf("%q, %v", got, err)
	}
}
