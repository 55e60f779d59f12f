package storagetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"nightdesk/storage"
	"nightdesk/topicqueue/proctest"
)

const (
	bucket    = "desk"
	accessKey = "NIGHTDESKTESTKEY0001"
	secretKey = "a-secret-of-tests-only"
)

// EachS3 runs a test against each kind of S3 server: always in-process, and versitygw if it is on PATH. In CI
// (environment variable CI set) a missing versitygw fails the test; elsewhere that part is skipped.
func EachS3(t *testing.T, test func(t *testing.T, settings storage.S3Settings)) {
	t.Run("in-process", func(t *testing.T) {
		t.Parallel()
		test(t, FakeS3(t))
	})
	t.Run("versitygw", func(t *testing.T) {
		t.Parallel()
		test(t, Versitygw(t))
	})
}

// FakeS3 starts an in-process server with an empty bucket. The server ends with the test and checks no signatures.
func FakeS3(t testing.TB) storage.S3Settings {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket(bucket); err != nil {
		t.Fatalf("create the bucket: %v", err)
	}
	server := httptest.NewServer(gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server())
	t.Cleanup(server.Close)
	return settings(server.URL)
}

// Versitygw starts a private versitygw with an empty bucket. It ends with the test, keeps objects as files in a
// temporary directory and checks signatures.
func Versitygw(t testing.TB) storage.S3Settings {
	t.Helper()
	path, err := exec.LookPath("versitygw")
	if err != nil {
		const install = "go install github.com/versity/versitygw/cmd/versitygw@v1.8.0"
		if os.Getenv("CI") != "" {
			t.Fatal("versitygw is not on PATH; install it: " + install)
		}
		t.Skip("versitygw is not on PATH; to run this test: " + install)
	}
	dir := t.TempDir()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	objects := filepath.Join(dir, "objects")
	if err := os.Mkdir(objects, 0o755); err != nil {
		t.Fatal(err)
	}
	addr := ""
	for range 20 { // another program may take the port before the server starts
		addr = freeAddr(t)
		if err = startVersitygw(t, path, dir, addr, objects, log); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatalf("%v: %s", err, readLog(log))
	}
	s := settings("http://" + addr)
	client := s3.New(s3.Options{BaseEndpoint: &s.Endpoint, UsePathStyle: true, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, secretKey, "")})
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(bucket)}); err != nil {
		t.Fatalf("create the bucket: %v: %s", err, readLog(log))
	}
	return s
}

// startVersitygw starts a server that ends with the test, and waits until it accepts connections or has ended.
func startVersitygw(t testing.TB, path, dir, addr, objects string, log *os.File) error {
	t.Helper()
	cmd := exec.Command(path, "--port", addr, "--access", accessKey, "--secret", secretKey, "--region", "us-east-1",
		"--quiet", "posix", objects)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	proctest.Tie(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start versitygw: %w", err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	t.Cleanup(func() { cmd.Process.Kill(); <-ended })
	for deadline := time.Now().Add(2 * time.Minute); ; {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
			return nil
		}
		select {
		case <-ended:
			return errors.New("versitygw has ended")
		case <-time.After(10 * time.Millisecond): // there is no event to wait for
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("versitygw does not answer: %w", err)
		}
	}
}

func settings(endpoint string) storage.S3Settings {
	return storage.S3Settings{Bucket: bucket, Prefix: "some/folder", Endpoint: endpoint, AccessKey: accessKey,
		SecretKey: secretKey}
}

// folders numbers the folders that Empty returns.
var folders atomic.Int64

// Empty returns a store in an unused folder of the bucket.
func Empty(t testing.TB, settings storage.S3Settings) *storage.S3 {
	t.Helper()
	settings.Prefix = fmt.Sprintf("%s/%d", settings.Prefix, folders.Add(1))
	s, err := storage.NewS3(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// freeAddr returns a loopback address with a port that was free at the time of the call. versitygw cannot choose a
// port and report it. The port lies below the range that systems use for outgoing connections.
func freeAddr(t testing.TB) string {
	t.Helper()
	for range 1000 {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(23_000+rand.IntN(9_000))))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("there is no free port for versitygw")
	return ""
}

func readLog(f *os.File) string {
	data, err := os.ReadFile(f.Name())
	if err != nil {
		return err.Error()
	}
	return string(data)
}
