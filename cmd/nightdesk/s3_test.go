package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nightdesk/storage"
	"nightdesk/storage/storagetest"
	"nightdesk/topicqueue/proctest"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestRunOnS3 puts reports into a bucket, also from another machine.
func TestRunOnS3(t *testing.T) {
	t.Parallel()
	storagetest.EachS3(t, func(t *testing.T, s storage.S3Settings) {
		dir := t.TempDir()
		program := link(t, dir)
		if err := os.Mkdir(filepath.Join(dir, "docs"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := writeFile(filepath.Join(dir, "docs", "tides.md"), "# Tides\n\n## Spring tides\n\nSpring tides are caused by the sun and the moon when they pull along one line.\n"); err != nil {
			t.Fatal(err)
		}
		env := append(os.Environ(), "HOME="+dir, "STORAGE_URL=s3://"+s.Bucket+"/desk", "AWS_ENDPOINT_URL_S3="+s.Endpoint, "AWS_REGION="+s.Region,
			"AWS_ACCESS_KEY_ID="+s.AccessKey, "AWS_SECRET_ACCESS_KEY="+s.SecretKey)
		nightdesk := func(args ...string) string {
			t.Helper()
			cmd := exec.Command(program, args...)
			cmd.Dir = dir
			cmd.Env = env
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("nightdesk %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
			}
			return strings.TrimSpace(string(out))
		}
		paths := strings.Fields(nightdesk("run", "What are spring tides caused by?", "--kb", "docs", "--preset", "quick"))
		where := paths[len(paths)-1]
		if want := "s3://" + s.Bucket + "/desk/reports/research_"; !strings.HasPrefix(where, want) {
			t.Fatalf("the report is at %q, want %s...", where, want)
		}
		runID := strings.TrimSuffix(where[strings.LastIndexByte(where, '/')+1:], ".md")
		if text := nightdesk("report", runID); !strings.Contains(text, "the sun and the moon") {
			t.Errorf("the report is\n%s", text)
		}

		// A worker on another machine: it has the queue and the bucket, and nothing else.
		env = append(env, "REDIS_URL=redis-socket://"+redistest.Socket(t))
		if err := writeFile(filepath.Join(dir, "topics.txt"), "What are spring tides caused by?\n"); err != nil {
			t.Fatal(err)
		}
		nightdesk("kb", "add", "--name", "sea", "docs")
		nightdesk("enqueue", "topics.txt", "--kb", "sea", "--batch", "tonight", "--preset", "quick")
		worker := exec.Command(program, "worker")
		worker.Dir, worker.Env = t.TempDir(), env
		proctest.Tie(worker)
		if err := worker.Start(); err != nil {
			t.Fatal(err)
		}
		defer worker.Wait()
		defer worker.Process.Kill()
		until(t, "the other machine's report", func() bool {
			return strings.Contains(nightdesk("status", "tonight", "--json"), `"completed": 1`)
		})
	})
}
