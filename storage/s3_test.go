package storage_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"nightdesk/storage"
	"nightdesk/storage/storagetest"
	"nightdesk/topicqueue/scaletest"
)

func TestS3(t *testing.T) {
	t.Parallel()
	storagetest.EachS3(t, func(t *testing.T, settings storage.S3Settings) {
		storagetest.Exercise(t, func(t *testing.T) storage.Store { return storagetest.Empty(t, settings) })
	})
}

func TestS3LargeNewBodiesAtTheSameTime(t *testing.T) {
	t.Parallel()
	s := storagetest.Empty(t, storagetest.Versitygw(t))
	var created atomic.Int64
	var group errgroup.Group
	for range 3 {
		group.Go(func() error {
			made, err := s.PutNew(t.Context(), "knowledge/k/1.sqlite", long)
			if made {
				created.Add(1)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil || created.Load() != 1 {
		t.Errorf("created %d times, %v; want once", created.Load(), err)
	}
}

func TestS3ListsMoreThanOnePage(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	s := storagetest.Empty(t, storagetest.FakeS3(t))
	var group errgroup.Group
	group.SetLimit(8)
	const n = 2_001
	for i := range n {
		group.Go(func() error { return s.Put(t.Context(), fmt.Sprintf("cache/r/pages/%04d.txt", i), nil) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	keys, err := s.List(t.Context(), "cache/r/")
	if err != nil || len(keys) != n || keys[n-1] != "cache/r/pages/2000.txt" {
		t.Errorf("List = %d keys, %v; want %d", len(keys), err, n)
	}
}

func TestContentType(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"reports/r.md": "text/markdown; charset=utf-8", "cache/r/claims.jsonl": "application/x-ndjson", "knowledge/k/1.sqlite": "application/octet-stream",
	} {
		if got := storage.ContentType(key); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

func TestS3Settings(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for name, test := range map[string]struct {
		settings storage.S3Settings
		want     string
	}{
		"no bucket":             {storage.S3Settings{}, "bucket name"},
		"upper case":            {storage.S3Settings{Bucket: "Desk"}, "bucket name"},
		"user in the bucket":    {storage.S3Settings{Bucket: "me:" + secret + "@desk"}, "AWS_ACCESS_KEY_ID"},
		"folder leads up":       {storage.S3Settings{Bucket: "desk", Prefix: "../x"}, "folder"},
		"half credentials":      {storage.S3Settings{Bucket: "desk", AccessKey: "a"}, "or neither"},
		"endpoint, no scheme":   {storage.S3Settings{Bucket: "desk", Endpoint: "localhost:9000"}, "AWS_ENDPOINT_URL_S3"},
		"endpoint, by its name": {storage.S3Settings{Bucket: "desk", Endpoint: "localhost:9000", EndpointName: "S3_ENDPOINT"}, "S3_ENDPOINT must be"},
		"endpoint, password":    {storage.S3Settings{Bucket: "desk", Endpoint: "http://me:" + secret + "@host"}, "AWS_ENDPOINT_URL_S3"},
		"endpoint, not a URL":   {storage.S3Settings{Bucket: "desk", Endpoint: "http://ho st:" + secret}, "AWS_ENDPOINT_URL_S3"},
		"endpoint, with query":  {storage.S3Settings{Bucket: "desk", Endpoint: "http://host/?key=" + secret}, "AWS_ENDPOINT_URL_S3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := storage.NewS3(t.Context(), test.settings)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("error %v, want one about %s that does not repeat the password", err, test.want)
			}
		})
	}
}

func TestS3Location(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ address, want string }{
		{"s3://desk", "s3://desk/reports/r.md"},
		{"s3://desk/", "s3://desk/reports/r.md"},
		{"s3://desk/team/a/", "s3://desk/team/a/reports/r.md"},
	} {
		bucket, prefix, err := storage.ParseS3(test.address)
		if err != nil {
			t.Fatal(err)
		}
		s, err := storage.NewS3(t.Context(), storage.S3Settings{Bucket: bucket, Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Location("reports/r.md"); got != test.want {
			t.Errorf("Location in %s = %s, want %s", test.address, got, test.want)
		}
	}
}

func FuzzParseS3(f *testing.F) {
	for _, seed := range []string{"s3://desk/team/a", "s3://desk", "s3://", "http://desk", "s3://me:pw@desk", "s3://desk//x", "s3://desk/../x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		bucket, prefix, err := storage.ParseS3(address)
		if err != nil {
			return
		}
		again := "s3://" + bucket
		if prefix != "" {
			again += "/" + prefix
		}
		if b, p, err := storage.ParseS3(again); err != nil || b != bucket || p != prefix {
			t.Errorf("%q is %q and %q; these are read as %q and %q, %v", address, bucket, prefix, b, p, err)
		}
		if strings.ContainsAny(bucket, "@:/") || strings.Contains("/"+prefix+"/", "/../") {
			t.Errorf("%q leads to bucket %q, folder %q", address, bucket, prefix)
		}
	})
}

func FuzzKey(f *testing.F) {
	for _, seed := range []string{"reports/a.md", "../x", "a//b", "/etc", "a/.tmp-1", "é/研", "a\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, key string) {
		root := t.TempDir()
		s := storage.NewDir(root)
		if err := s.Put(t.Context(), key, []byte(key)); err != nil {
			return
		}
		got, err := s.Get(t.Context(), key)
		if err != nil || !bytes.Equal(got, []byte(key)) {
			t.Errorf("Get(%q) = %q, %v", key, got, err)
		}
		if keys, err := s.List(t.Context(), ""); err != nil || len(keys) != 1 || keys[0] != key {
			t.Errorf("List = %q, %v; want %q", keys, err, key)
		}
		if !strings.HasPrefix(s.Location(key), root+"/") {
			t.Errorf("Location(%q) = %s, outside %s", key, s.Location(key), root)
		}
	})
}
