package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"nightdesk/jobs"
	"nightdesk/pipeline/digest"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// earlierDigests is how many older digests a digest leads to.
const earlierDigests = 14

// Pieces of the page of a digest.
type (
	digestPage struct {
		digest.Digest
		Newest, SoFar bool
		States        []state
		Filter        filter
		Found         int // topics that fit it
		First         []digestItem
		Sections      []digestSection
		Reports       []digestRef
		More          int
		BatchURL      string
		Earlier       []link
	}
	digestSection struct {
		Title string
		Items []digestItem
		More  int
	}
	digestItem struct {
		Kind, Word, Text string
		Sides            []string
		Do               []span
		Refs             []digestRef
		More             int
		Retry            []string // runs of it that may be tried again
		Up               string
		History          string // address of the history of its topic
	}
	digestRef struct {
		Name, URL, RunID string
		State            topicqueue.RunState
		Audio            string // address of the report as it is read aloud; empty when it is not
	}
	span struct {
		Text string
		Code bool
	}
	link struct{ Name, URL, When string }
)

// digestPages show what the runs of a batch have come to.
type digestPages struct{ runReader }

// morning is the digest of the newest batch that has ended, else that of the newest batch so far.
func (s digestPages) morning(ctx context.Context, r *http.Request) (string, any, error) {
	batches, err := s.queue.Batches(ctx)
	if err != nil {
		return "", nil, err
	}
	const looked = 30 // batches that may still be worked
	for _, b := range slices.Backward(batches[max(0, len(batches)-looked):]) {
		d, err := jobs.ReadDigest(ctx, s.store, b.Name)
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
	d, err := jobs.MakeDigest(ctx, s.queue, s.store, batches[len(batches)-1].Name)
	if err != nil {
		return "", nil, err
	}
	return s.digestPage(ctx, r, d, batches, true)
}

// digest is the digest of one batch.
func (s digestPages) digest(ctx context.Context, r *http.Request) (string, any, error) {
	batches, err := s.queue.Batches(ctx)
	if err != nil {
		return "", nil, err
	}
	batch := r.PathValue("batch")
	d, err := jobs.ReadDigest(ctx, s.store, batch)
	soFar := errors.Is(err, storage.ErrNotExist)
	if soFar {
		d, err = jobs.MakeDigest(ctx, s.queue, s.store, batch)
	}
	if errors.Is(err, redisqueue.ErrNotFound) {
		return "", nil, noBatch(batch)
	}
	if err != nil {
		return "", nil, err
	}
	return s.digestPage(ctx, r, d, batches, soFar)
}

func (s digestPages) digestPage(ctx context.Context, r *http.Request, d digest.Digest, batches []redisqueue.Batch,
	soFar bool) (string, any, error) {
	up := "./" + strings.Repeat("../", strings.Count(r.URL.Path, "/")-1)
	base := up + "batches/" + name(d.Batch)
	p := digestPage{Digest: d, SoFar: soFar, Filter: filterOf(r),
		States: states(d.States, base, ""), BatchURL: base, Newest: r.URL.Path == "/"}
	fitting, err := s.fitting(ctx, d.Batch, p.Filter)
	if err != nil {
		return "", nil, err
	}
	p.Found = len(fitting)
	shows := func(id string) bool { return fitting == nil || fitting[id] }
	p.First = digestItems(d.First, up, shows)
	for _, section := range d.Sections() {
		items := digestItems(section.Items, up, shows)
		if len(items) == 0 {
			continue
		}
		more := section.More
		if fitting != nil {
			more = 0
		}
		p.Sections = append(p.Sections, digestSection{section.Title, items, more})
	}
	p.Reports = digestRefs(d.Reports, false, up, shows)
	if fitting == nil {
		p.More = d.Runs - len(d.Reports)
	}
	for _, b := range slices.Backward(batches) {
		if b.Name != d.Batch && !b.CreatedAt.After(d.CreatedAt) && len(p.Earlier) < earlierDigests {
			p.Earlier = append(p.Earlier, link{b.Name, up + "digests/" + name(b.Name), when(b.CreatedAt)})
		}
	}
	title := "Digest: " + d.Batch
	if p.Newest {
		title = "This morning: " + d.Batch
	}
	return title, p, nil
}

// fitting returns the runs of a batch that a filter chooses; nil when it chooses all.
func (s digestPages) fitting(ctx context.Context, batch string, chosen filter) (map[string]bool, error) {
	if !chosen.Some() {
		return nil, nil
	}
	found := map[string]bool{}
	err := s.queue.Runs(ctx, batch, func(run topicqueue.Run) error {
		if chosen.fits(run) {
			found[run.ID] = true
		}
		return nil
	})
	if errors.As(err, new(*redisqueue.BrokenError)) {
		err = nil // the others are there
	}
	return found, err
}

// digestItems returns the items about runs that are shown.
func digestItems(items []digest.Item, up string, shows func(string) bool) (out []digestItem) {
	for _, i := range items {
		if !slices.ContainsFunc(i.Runs, func(r digest.Ref) bool { return shows(r.RunID) }) && len(i.Runs) > 0 {
			continue
		}
		item := digestItem{Kind: i.Kind, Word: digest.Word(i.Kind), Text: i.Text, Sides: i.Sides, More: i.Count - len(i.Runs),
			Refs: digestRefs(i.Runs, len(i.Runs) > 1, up, func(string) bool { return true })}
		if item.Up = up; i.Kind == digest.KindFailed || i.Kind == digest.KindPartial {
			for _, ref := range i.Runs {
				item.Retry = append(item.Retry, ref.RunID)
			}
		}
		if (i.Kind == digest.KindChanged || i.Kind == digest.KindRemark) && len(i.Runs) == 1 && i.Runs[0].History != "" {
			item.History = up + "topics/" + i.Runs[0].History
		}
		for n, piece := range strings.Split(i.Do, "`") { // commands stand between backticks
			if piece != "" {
				item.Do = append(item.Do, span{piece, n%2 == 1})
			}
		}
		out = append(out, item)
	}
	return out
}

func digestRefs(refs []digest.Ref, short bool, up string, shows func(string) bool) (out []digestRef) {
	for _, r := range refs {
		if shows(r.RunID) {
			ref := digestRef{Name: r.Name(short), URL: up + "runs/" + name(r.RunID), RunID: r.RunID, State: r.State}
			if r.Audio != "" {
				ref.Audio = ref.URL + "#listen"
			}
			out = append(out, ref)
		}
	}
	return out
}
