package storage

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"path"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"
)

// Metadata of every object.
const (
	metaSum = "sha256" // of the body, in lower-case hex
	metaID  = "put-id" // of the call that stored it; identifies an attempt whose response was lost
)

const (
	partsAtOnce = 4
	abortTime   = 10 * time.Second
)

// upload is one call of Put or PutNew.
type upload struct {
	key     *string // in the bucket
	body    []byte
	meta    map[string]string
	kind    *string // content type
	onlyNew *string // "*": fail if the object exists
}

// Put uploads the body, in parts if it is large. The object becomes visible when the upload is complete.
func (s *S3) Put(ctx context.Context, key string, body []byte) error {
	_, err := s.put(ctx, key, body, nil)
	return err
}

// PutNew uploads on the condition that the object does not exist (If-None-Match). The server checks the condition
// after it has received the body, so PutNew first calls Exists for a large body.
func (s *S3) PutNew(ctx context.Context, key string, body []byte) (created bool, err error) {
	if len(body) > s.pace.single {
		if there, err := s.Exists(ctx, key); err != nil || there {
			return false, err
		}
	}
	return s.put(ctx, key, body, aws.String("*"))
}

func (s *S3) put(ctx context.Context, key string, body []byte, onlyNew *string) (created bool, err error) {
	ctx = withRecord(ctx)
	if err := usable(ctx, key); err != nil {
		return false, s.failed(ctx, "store", key, err)
	}
	u := upload{key: s.key(key), body: body, kind: aws.String(contentType(key)), onlyNew: onlyNew,
		meta: map[string]string{metaSum: sumOf(body), metaID: rand.Text()}}
	send := s.putWhole
	if len(body) > s.pace.single {
		send = s.putParts
	}
	err = send(ctx, u)
	if c := code(err); onlyNew != nil && c == "PreconditionFailed" || c == "NoSuchUpload" {
		// The object is another writer's, or ours: an attempt can succeed and its response get lost.
		mine, lookErr := s.holds(ctx, u)
		switch {
		case lookErr != nil:
			return false, s.failed(ctx, "store", key, lookErr)
		case mine:
			return true, nil
		case c == "PreconditionFailed":
			return false, nil
		}
	}
	return err == nil, s.failed(ctx, "store", key, err)
}

// errNotS3 means that a successful response lacks a field that every S3 server sends.
var errNotS3 = errors.New("the answer is not that of an S3 server")

func (s *S3) putWhole(ctx context.Context, u upload) error {
	out, err := s.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &s.bucket, Key: u.key, Body: bytes.NewReader(u.body),
		Metadata: u.meta, ContentType: u.kind, IfNoneMatch: u.onlyNew})
	if err == nil && aws.ToString(out.ETag) == "" {
		return errNotS3
	}
	return err
}

// putParts uploads parts in parallel and then completes the upload. It does not use feature/s3/transfermanager, which
// copies the body, prints to the standard log when the last step fails, and hides the kind of error behind a failed
// abort.
func (s *S3) putParts(ctx context.Context, u upload) error {
	started, err := s.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &s.bucket, Key: u.key,
		Metadata: u.meta, ContentType: u.kind})
	if err != nil {
		return err
	}
	if aws.ToString(started.UploadId) == "" {
		return errNotS3
	}
	err = s.sendParts(ctx, u, started.UploadId)
	if err != nil {
		// Leftover parts are invisible but take up space. A failure of the abort is ignored: there is no remedy.
		abortCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTime)
		defer cancel()
		s.client.AbortMultipartUpload(abortCtx, &s3.AbortMultipartUploadInput{Bucket: &s.bucket, Key: u.key,
			UploadId: started.UploadId})
	}
	return err
}

func (s *S3) sendParts(ctx context.Context, u upload, id *string) error {
	size := max(s.pace.part, len(u.body)/maxParts+1)
	parts := make([]types.CompletedPart, (len(u.body)+size-1)/size)
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(partsAtOnce)
	for i := range parts {
		group.Go(func() error {
			number := aws.Int32(int32(i + 1))
			body := u.body[i*size : min((i+1)*size, len(u.body))]
			out, err := s.client.UploadPart(groupCtx, &s3.UploadPartInput{Bucket: &s.bucket, Key: u.key, UploadId: id,
				PartNumber: number, Body: bytes.NewReader(body)})
			if err != nil {
				return err
			}
			parts[i] = types.CompletedPart{PartNumber: number, ETag: out.ETag}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	_, err := s.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{Bucket: &s.bucket,
		Key: u.key, UploadId: id,
		IfNoneMatch: u.onlyNew, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts}})
	return err
}

// maxParts is the maximum number of parts of an object.
const maxParts = 10_000

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
