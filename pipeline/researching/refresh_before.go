package researching

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// likePassages is the number of passages of the knowledge base of then that are searched for a sentence.
const likePassages = 8

// stood reports a sentence of a document that the knowledge base held when the topic was last researched, in whatever document and words: files
// are renamed, split and copied. One that says in other words what a lost claim said is to be noted all the same, since that still stands.
func (f *refresh) stood(ctx context.Context, s topicqueue.Source, u recurring.Unit, lost []loss) (bool, error) {
	if f.Before == nil || s.Kind != topicqueue.SourceDocument {
		return false, nil
	}
	sentence := s.Text[u.Start:u.End]
	passages, err := f.Before.Like(ctx, topicqueue.Clip(topicqueue.OneLine(sentence), maxClaim), likePassages)
	if err != nil {
		return false, f.failed(ctx, err)
	}
	claims := []evidence.Claim{statement(sentence)}
	for _, l := range lost {
		claims = append(claims, statement(topicqueue.OneLine(l.claim.Quote)))
	}
	for _, p := range passages {
		for _, then := range recurring.Units(p.Text) {
			if then.Mark == u.Mark {
				return true, nil
			}
			if then.Tells {
				claims = append(claims, statement(p.Text[then.Start:then.End]))
			}
		}
	}
	reading := evidence.Read(claims)
	for i := 1; i < len(claims); i++ {
		if reading.Same(0, i) {
			return i > len(lost), nil
		}
	}
	return false, nil
}

const (
	fartherPassages = 40   // of a search, among which are looked for what no search has shown
	nearly          = 0.75 // of how much of the topic another source speaks of
	aroundUnit      = 600  // bytes on each side of a sentence that tell what it is about
)

// unseenCalls are searches for what has come into documents that no search has shown: there were others before them. The searches of the block are
// followed farther, as far as documents of the base differ from those of then, and speak of the topic nearly as much as any source of the block does.
func (f *refresh) unseenCalls(ctx context.Context, tool string, lost []loss) ([]call, error) {
	if f.Before == nil || f.Documents == nil || f.memory.KnowledgeVersion == f.run.Options.KnowledgeVersion {
		return nil, nil
	}
	most, err := f.aboutTopic(ctx)
	if err != nil {
		return nil, err
	}
	var calls []call
	done := map[string]bool{}
	for _, a := range f.old.Asked {
		if a.Tool != ragHybrid && a.Tool != ragNaive {
			continue
		}
		found, err := f.Documents.Like(ctx, a.Query, fartherPassages)
		if err != nil {
			return nil, f.failed(ctx, err)
		}
		for _, s := range found {
			key := recurring.PageKey(s)
			if _, known := f.memory.Pages[key]; known || done[key] {
				continue
			}
			done[key] = true
			fresh, err := f.cameIn(ctx, s, nearly*most, lost)
			if err != nil {
				return nil, err
			}
			for _, sentence := range fresh {
				f.unseen[key] = true
				if len(calls) < maxOpened {
					calls = append(calls, call{tool: tool, query: topicqueue.Clip(topicqueue.OneLine(sentence), maxClaim)})
				}
			}
		}
	}
	return calls, nil
}

// cameIn returns the sentences on the topic that have come into the document of a source.
func (f *refresh) cameIn(ctx context.Context, s topicqueue.Source, least float64, lost []loss) ([]string, error) {
	now, err := f.Documents.Text(ctx, s.Document)
	if err != nil {
		return nil, f.failed(ctx, err)
	}
	then, err := f.Before.Text(ctx, s.Document)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, f.failed(ctx, err)
	}
	if now == then {
		return nil, nil
	}
	whole := s
	whole.Text = now
	var sentences []string
	for _, u := range recurring.MarksOf(then).Fresh(recurring.Units(now)) {
		around := s.Title + "\n" + strings.ToValidUTF8(now[max(0, u.Start-aroundUnit):min(len(now), u.End+aroundUnit)], "")
		if text.Coverage(around, f.run.Topic) < least {
			continue
		}
		if stood, err := f.stood(ctx, whole, u, lost); err != nil {
			return nil, err
		} else if !stood {
			sentences = append(sentences, now[u.Start:u.End])
		}
	}
	return sentences, nil
}

// aboutTopic returns how much of the topic the source of the block speaks of that speaks of it most.
func (f *refresh) aboutTopic(ctx context.Context) (most float64, err error) {
	for _, t := range f.old.Traces {
		body, err := f.text(ctx, t.Source.Hash)
		if err != nil {
			return 0, err
		}
		most = max(most, text.Coverage(t.Source.Title+"\n"+body, f.run.Topic))
	}
	return most, nil
}

// failed says what was being done when a knowledge base could not be read.
func (f *refresh) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("compare the knowledge base with that of %s: %w", f.memory.Date, err)
}
