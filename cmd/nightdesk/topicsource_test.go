package main_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"nightdesk/storage"
	"nightdesk/storage/storagetest"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestTopicsAtAnAddress: a schedule's list may lie on the web, which keeps the rules of all requests.
func TestTopicsAtAnAddress(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/topics.csv":
			w.Header().Set("Content-Type", "text/csv")
			_, _ = io.WriteString(w, "topic,language\nHow is the harbour operated?,en\n")
		case "/login":
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>\n<p>Please log in</p>\n")
		default:
			http.Error(w, "no such list", http.StatusNotFound)
		}
	}))
	t.Cleanup(site.Close)
	url := "redis-socket://" + redistest.Socket(t)
	add := func(address string) []string {
		return []string{"schedule", "add", "nightly", "--cron", "@daily", "--kb", "docs", "--topics", address}
	}
	f := newDeskAt(t, url)
	if out := f.fails(2, add(site.URL+"/topics.csv?key=canary")...); !strings.Contains(out, "fetch.allow") || strings.Contains(out, "canary") {
		t.Errorf("a private address: %s", out)
	}
	f.env = append(f.env, "NIGHTDESK_FETCH_ALLOW=127.0.0.1")
	if out := f.fails(2, add(site.URL+"/login")...); !strings.Contains(out, "is a web page") {
		t.Errorf("a web page: %s", out)
	}
	if out := f.fails(2, add(site.URL+"/topics.txt")...); !strings.Contains(out, "404") {
		t.Errorf("nothing: %s", out)
	}
	if out := f.output(add(site.URL + "/topics.csv?key=canary")...); !strings.Contains(out, "1 topics") {
		t.Errorf("added: %s", out)
	}
	if out := f.output("schedule", "fire", "nightly", "--json"); !strings.Contains(out, `"topics":1`) {
		t.Errorf("fired: %s", out)
	}
	for _, args := range [][]string{{"list"}, {"list", "--json"}, {"show", "nightly"}, {"show", "nightly", "--json"}} {
		if out := f.output(append([]string{"schedule"}, args...)...); strings.Contains(out, "canary") || !strings.Contains(out, "/topics.csv?[redacted]") {
			t.Errorf("%v shows %s", args, out)
		}
	}
}

func TestTopicsInABucket(t *testing.T) {
	t.Parallel()
	storagetest.EachS3(t, func(t *testing.T, s storage.S3Settings) {
		s.Prefix = "lists/desk"
		bucket, err := storage.NewS3(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if err := bucket.Put(t.Context(), "topics.jsonl", []byte(`{"topic":"How is the harbour operated?"}`+"\n")); err != nil {
			t.Fatal(err)
		}
		f := newDeskAt(t, "redis-socket://"+redistest.Socket(t), "AWS_ENDPOINT_URL_S3="+s.Endpoint, "AWS_REGION="+s.Region,
			"AWS_ACCESS_KEY_ID="+s.AccessKey, "AWS_SECRET_ACCESS_KEY="+s.SecretKey)
		add := []string{"schedule", "add", "nightly", "--cron", "@daily", "--kb", "docs", "--topics"}
		list := "s3://" + s.Bucket + "/lists/desk/topics.jsonl"
		f.fails(2, append(add, list+"x")...)
		f.fails(2, append(add, "s3://"+s.Bucket)...)
		if out := f.output(append(add, list)...); !strings.Contains(out, "1 topics") {
			t.Errorf("added: %s", out)
		}
		if out := f.output("schedule", "fire", "nightly", "--json"); !strings.Contains(out, `"topics":1`) {
			t.Errorf("fired: %s", out)
		}
	})
}
