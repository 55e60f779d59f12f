package storage

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"path"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Metadata of every object.
const (
	metaSum = "sha256" // of the body, in lower-case hex
	metaID  = "put-id" // of the call that stored it; identifies an attempt whose response was lost
)

// upload is one call of Put or PutNew.
type upload struct {
	key     *string // in the bucket
	body    []byte
	meta    map[string]string
	kind    *string // content type
	onlyNew *string // "*": fail if the object exists
}

// Put uploads the body in one request, in which S3 accepts up to 5 GB.
func (s *S3) Put(ctx context.Context, key string, body []byte) error {
	_, err := s.put(ctx, key, body, nil)
	return err
}

// largeBody is the size in bytes above which PutNew first looks for the object.
const largeBody = 16 << 20

// PutNew uploads on the condition that the object does not exist (If-None-Match). The server checks the condition
// after it has received the body, so PutNew first calls Exists for a large body.
func (s *S3) PutNew(ctx context.Context, key string, body []byte) (created bool, err error) {
	if len(body) > largeBody {
		if there, err := s.Exists(ctx, key); err != nil || there {
			return false, err
		}
	}
	return s.put(ctx, key, body, aws.String("*"))
}

func (s *S3) put(ctx context.Context, key string, body []byte, onlyNew *string) (created bool, err error) {
	if err := usable(ctx, key); err != nil {
		return false, s.failed(ctx, "store", key, err)
	}
	u := upload{key: s.key(key), body: body, kind: aws.String(contentType(key)), onlyNew: onlyNew,
		meta: map[string]string{metaSum: sumOf(body), metaID: rand.Text()}}
	err = s.send(ctx, u)
	if onlyNew != nil && code(err) == "PreconditionFailed" {
		// The object is another writer's, or ours: an attempt can succeed and its response get lost.
		mine, err := s.holds(ctx, u)
		return mine, s.failed(ctx, "store", key, err)
	}
	return err == nil, s.failed(ctx, "store", key, err)
}

// errNotS3 means that a successful response lacks a field that every S3 server sends.
var errNotS3 = errors.New("the answer is not that of an S3 server")

func (s *S3) send(ctx context.Context, u upload) error {
	out, err := s.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &s.bucket, Key: u.key, Body: bytes.NewReader(u.body),
		Metadata: u.meta, ContentType: u.kind, IfNoneMatch: u.onlyNew})
	if status(err) == 0 && err != nil && len(u.body) > 0 && ctx.Err() == nil {
		// A server that refuses a request may close the connection before it has read the body, which hides the reason.
		if _, why := s.look(ctx, u.key); status(why) != 0 {
			return why
		}
	}
	if err == nil && aws.ToString(out.ETag) == "" {
		return errNotS3
	}
	return err
}

// holds reports whether the stored object is the one that u uploaded.
func (s *S3) holds(ctx context.Context, u upload) (bool, error) {
	head, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.bucket, Key: u.key})
	if status(err) == http.StatusNotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return head.Metadata[metaID] == u.meta[metaID], nil
}

// contentType returns the content type of a key, for browsers that follow a link.
func contentType(key string) string {
	if t, ok := map[string]string{
		".md": "text/markdown; charset=utf-8", ".html": "text/html; charset=utf-8", ".txt": "text/plain; charset=utf-8",
		".json": "application/json", ".jsonl": "application/x-ndjson", ".mp3": "audio/mpeg", ".wav": "audio/wav",
		".opus": "audio/ogg", ".vtt": "text/vtt; charset=utf-8",
		".png": "image/png", ".svg": "image/svg+xml", ".pdf": "application/pdf",
		".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	}[path.Ext(key)]; ok {
		return t
	}
	return "application/octet-stream"
}
