package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"nightdesk/jobs/digests"
	"nightdesk/pipeline/digest"
	"nightdesk/storage"
	"nightdesk/topicqueue/redisqueue"
)

// earlierDigests is the maximum number of links to older digests.
const earlierDigests = 14

// digestPage is the data of the page of a digest.
type digestPage struct {
	digest.Digest
	Newest, SoFar bool
	States        []state
	Listed        []digest.Listed
	More          int // reports that are not listed
	Earlier       []redisqueue.Batch
}

type link struct{ Name, URL string }

// item is an item of a digest on a page. Up: see page.
type item struct {
	digest.Item
	Up string
}

func at(up string, i digest.Item) item { return item{i, up} }

// morning shows the digest of the newest finished batch, or of the newest batch so far.
func (s *site) morning(ctx context.Context, r *http.Request) (string, any, error) {
	batches, err := s.Queue.Batches(ctx)
	if err != nil {
		return "", nil, err
	}
	const looked = 30 // number of batches to search for a stored digest
	for _, b := range slices.Backward(batches[max(0, len(batches)-looked):]) {
		d, err := digests.Read(ctx, s.Store, b.Name)
		if err == nil {
			return s.digestPage(ctx, r, d, batches, false)
		}
		if !errors.Is(err, storage.ErrNotExist) {
			return "", nil, err
		}
	}
	if len(batches) == 0 {
		return "This morning", digestPage{}, nil
	}
	d, _, err := s.Reports().Digest(ctx, batches[len(batches)-1].Name)
	if err != nil {
		return "", nil, err
	}
	return s.digestPage(ctx, r, d, batches, true)
}

// digest shows the digest of one batch.
func (s *site) digest(ctx context.Context, r *http.Request) (string, any, error) {
	batches, err := s.Queue.Batches(ctx)
	if err != nil {
		return "", nil, err
	}
	d, final, err := s.Reports().Digest(ctx, r.PathValue("batch"))
	if err != nil {
		return "", nil, err
	}
	return s.digestPage(ctx, r, d, batches, !final)
}

func (s *site) digestPage(ctx context.Context, r *http.Request, d digest.Digest, batches []redisqueue.Batch,
	soFar bool) (string, any, error) {
	up := "./" + strings.Repeat("../", strings.Count(r.URL.Path, "/")-1)
	base := up + "batches/" + name(d.Batch)
	p := digestPage{Digest: d, SoFar: soFar, States: states(d.States, base, ""), Newest: r.URL.Path == "/",
		Listed: d.Sections(), More: d.Runs - len(d.Reports)}
	for _, b := range slices.Backward(batches) {
		if b.Name != d.Batch && !b.CreatedAt.After(d.CreatedAt) && len(p.Earlier) < earlierDigests {
			p.Earlier = append(p.Earlier, b)
		}
	}
	title := "Digest: " + d.Batch
	if p.Newest {
		title = "This morning: " + d.Batch
	}
	return title, p, nil
}
