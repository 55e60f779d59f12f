package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/jobs/digests"
	"nightdesk/pipeline/digest"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// earlierDigests is the maximum number of links to older digests.
const earlierDigests = 14

// Parts of the digest page.
type (
	digestPage struct {
		digest.Digest
		Newest, SoFar bool
		States        []state
		Filter        filter
		Found         int // number of topics that match the filter
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
		Retry            []string // runs of the item that can be retried
		Up               string
		History          string // URL of the topic's history
	}
	digestRef struct {
		Name, URL, RunID string
		State            topicqueue.RunState
		Audio            string // URL of the report's audio; empty if there is none
	}
	span struct {
		Text string
		Code bool
	}
	link struct{ Name, URL, When string }
)

// digestPages show the results of a batch.
type digestPages struct{ *desk.Desk }

// morning shows the digest of the newest finished batch, or of the newest batch so far.
func (s digestPages) morning(ctx context.Context, r *http.Request) (string, any, error) {
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
func (s digestPages) digest(ctx context.Context, r *http.Request) (string, any, error) {
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

func (s digestPages) digestPage(ctx context.Context, r *http.Request, d digest.Digest, batches []redisqueue.Batch,
	soFar bool) (string, any, error) {
	up := "./" + strings.Repeat("../", strings.Count(r.URL.Path, "/")-1)
	base := up + "batches/" + name(d.Batch)
	chosen := selected(r, d.Batch)
	p := digestPage{Digest: d, SoFar: soFar, Filter: filterOf(chosen),
		States: states(d.States, base, ""), BatchURL: base, Newest: r.URL.Path == "/"}
	fitting, err := s.fitting(ctx, chosen)
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

// fitting returns the runs that match a request, or nil if it has no condition.
func (s digestPages) fitting(ctx context.Context, chosen desk.ListRequest) (map[string]bool, error) {
	if !chosen.Selects() {
		return nil, nil
	}
	found := map[string]bool{}
	_, _, err := s.Each(ctx, chosen, func(run desk.RunSummary) error {
		found[run.RunID] = true
		return nil
	})
	return found, err
}

// digestItems returns the items with at least one shown run, and the items without runs.
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
		for n, piece := range strings.Split(i.Do, "`") { // commands are in backticks
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
