package researching

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

const (
	likePassages = 8    // of a knowledge base that are most like a sentence
	maxCompared  = 1000 // of its documents that have changed; of more, only those are compared that rank for a search
	farther      = 40   // passages that rank for it
	mostPassages = 200  // that a knowledge base ranks
)

// halfAsGood is how well a document answers the topic that is about it, as a share of the best score.
const halfAsGood = 0.5

// Documents has the texts of a knowledge base; *knowledge.Base does. Safe for concurrent use.
type Documents interface {
	// Text returns the whole text of a document. The error wraps fs.ErrNotExist when there is none of this key.
	Text(ctx context.Context, document string) (string, error)
	// Passages returns all passages of a document in order. None: there is no document of this key.
	Passages(ctx context.Context, document string) ([]topicqueue.Source, error)
	// Hashes returns the hash of each document, by key: equal for equal documents.
	Hashes(ctx context.Context) (map[string]string, error)
	// Like returns at most limit passages that have most words of a text, best first, with their Share.
	Like(ctx context.Context, text string, limit int) ([]topicqueue.Source, error)
}

// lookAtDocument compares a document with what it was.
func (v *visit) lookAtDocument(ctx context.Context, document string, cited bool) error {
	key := keyOf(document)
	if v.looks[key] != nil || v.Documents == nil {
		return nil
	}
	l := &look{cited: cited, weigh: !cited}
	var err error
	if l.then, err = v.before(ctx, key); err != nil {
		return err
	}
	if err := v.compareBases(ctx); err != nil {
		return err
	}
	v.calls++
	l.call.call = call{id: fmt.Sprintf("%s/1.%d", v.block.ID, v.calls), tool: recurring.ReadDocument, query: document}
	v.looks[key] = l
	if l.then.Text != "" && v.edited != nil && !v.edited[document] {
		l.state, l.now, l.text = asItWas, []topicqueue.Source{l.then}, l.then.Text
		return nil
	}
	if l.then.Text == "" && v.Before != nil {
		l.then, _, err = wholeDocument(ctx, v.Before, document)
		if err == nil { // the last run did not keep it
			l.then.AsOf = &topicqueue.AsOf{RunID: v.run.ID, Date: v.memory.Since(v.span.Now)}
			err = v.Runner.Pages.PutPage(ctx, v.run.ID, l.then.Hash, l.then.Text)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return v.failed(ctx, document, err)
		}
	}
	now, passages, err := wholeDocument(ctx, v.Documents, document)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.state = gone
	case err != nil:
		return v.failed(ctx, document, err)
	case now.Hash == l.then.Hash:
		l.state, l.now, l.text = asItWas, []topicqueue.Source{l.then}, l.then.Text
	default:
		l.state, l.text, l.now = changed, now.Text, append(passages, now)
	}
	l.call.answer.Raw = topicqueue.PagePath(now.Hash)
	return nil
}

// keyOf is the recurring.PageKey of a document.
func keyOf(document string) string {
	return recurring.PageKey(topicqueue.Source{Kind: topicqueue.SourceDocument, Document: document})
}

// compareBases finds out which documents have changed, come or gone since the last run, as far as its knowledge base is
// there.
func (v *visit) compareBases(ctx context.Context) error {
	if v.edited != nil || v.Documents == nil || v.Before == nil && !v.sameBase() {
		return nil
	}
	edited := map[string]bool{}
	if !v.sameBase() {
		then, err := v.Before.Hashes(ctx)
		if err != nil {
			return v.failed(ctx, v.run.Options.KnowledgeBase, err)
		}
		now, err := v.Documents.Hashes(ctx)
		if err != nil {
			return v.failed(ctx, v.run.Options.KnowledgeBase, err)
		}
		for document, hash := range now {
			edited[document] = then[document] != hash
		}
		for document := range then {
			edited[document] = edited[document] || now[document] == ""
		}
		maps.DeleteFunc(edited, func(_ string, is bool) bool { return !is })
		if err := v.compareTopic(ctx, len(edited), len(then)); err != nil {
			return err
		}
	}
	v.edited = edited
	return nil
}

// compareTopic finds out whether half of the documents of the last run's knowledge base are about the topic, as far as
// that matters: without a model, and where documents have been edited.
func (v *visit) compareTopic(ctx context.Context, edited, documents int) error {
	if v.Model != nil || edited == 0 || documents > mostPassages {
		return nil
	}
	like, err := v.Before.Like(ctx, v.run.Topic, mostPassages)
	if err != nil {
		return v.failed(ctx, v.run.Topic, err)
	}
	about := map[string]bool{}
	for _, s := range like {
		if s.Share >= halfAsGood {
			about[s.Document] = true
		}
	}
	v.broad = 2*len(about) >= documents
	return nil
}

// lookAtShown compares the documents that have changed and that searches show, also far below.
func (v *visit) lookAtShown(ctx context.Context, found []outcome) error {
	for _, o := range found {
		for _, s := range o.answer.Sources {
			if s.Kind != topicqueue.SourceDocument || !v.edited[s.Document] {
				continue
			}
			if err := v.lookAtDocument(ctx, s.Document, false); err != nil {
				return err
			}
			if l := v.looks[recurring.PageKey(s)]; l != nil {
				l.shown = append(l.shown, s.Text)
			}
		}
	}
	return nil
}

// lookAtBase compares the documents that have changed, come or gone, that no search of the block shows, and that are
// more about this block than about others. Where there are very many, it is those that rank for its searches.
func (v *visit) lookAtBase(ctx context.Context, searches []call) error {
	ranking := map[string]bool{}
	for _, c := range searches {
		if len(v.edited) <= maxCompared || c.tool != ragHybrid && c.tool != ragNaive {
			continue
		}
		for _, base := range []Documents{v.Documents, v.Before} {
			found, err := base.Like(ctx, c.query, farther)
			if err != nil {
				return v.failed(ctx, c.query, err)
			}
			for _, s := range found {
				ranking[s.Document] = true
			}
		}
	}
	for _, document := range slices.Sorted(maps.Keys(v.edited)) {
		if len(v.edited) > maxCompared && !ranking[document] {
			continue
		}
		if len(v.edited) <= maxCompared {
			if mine, err := v.isMine(ctx, document); err != nil || !mine {
				if err != nil {
					return err
				}
				continue
			}
		}
		if err := v.lookAtDocument(ctx, document, false); err != nil {
			return err
		}
	}
	return nil
}

// isMine reports a document that says more of the words of this block's title, overview and queries than of any
// other's; of equal ones, the first has it. What has gone counts as it was.
func (v *visit) isMine(ctx context.Context, document string) (bool, error) {
	body, err := v.Documents.Text(ctx, document)
	if errors.Is(err, fs.ErrNotExist) && v.Before != nil {
		body, err = v.Before.Text(ctx, document)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, v.failed(ctx, document, err)
	}
	best, most := "", -1.0
	for _, b := range v.memory.Blocks {
		t := b.SubTopic
		about := text.Coverage(body, strings.Join(append([]string{t.Title, t.Overview}, t.Queries...), "\n"))
		if !b.Unfinished && about > most {
			best, most = b.ID, about
		}
	}
	return best == v.old.ID, nil
}

// lookAtLike reads the documents that are most like what claims have lost.
func (v *visit) lookAtLike(ctx context.Context, losses []loss) error {
	for _, l := range losses {
		if v.Documents == nil || l.look.call.tool != recurring.ReadDocument {
			continue
		}
		sentence := topicqueue.OneLine(l.look.then.Text[l.unit.Start:l.unit.End])
		like, err := v.Documents.Like(ctx, topicqueue.Clip(sentence, maxClaim), likePassages)
		if err != nil {
			return v.failed(ctx, sentence, err)
		}
		for _, s := range like {
			key := recurring.PageKey(s)
			if v.looks[key] != nil {
				continue
			}
			if err := v.lookAtDocument(ctx, s.Document, false); err != nil {
				return err
			}
			if err := v.align(ctx, v.looks[key]); err != nil {
				return err
			}
		}
	}
	return nil
}

// wholeDocument returns a document as one source, and its passages. The error wraps fs.ErrNotExist when there is none.
func wholeDocument(
	ctx context.Context, base Documents, document string,
) (topicqueue.Source, []topicqueue.Source, error) {
	body, err := base.Text(ctx, document)
	if err != nil {
		return topicqueue.Source{}, nil, err
	}
	passages, err := base.Passages(ctx, document)
	s := topicqueue.Source{Kind: topicqueue.SourceDocument, Document: document, Title: document}
	if len(passages) > 0 {
		s = passages[0]
		s.Section, s.Anchor, s.Page, s.Offset, s.Share = nil, "", 0, 0, 0
		s.URL, _, _ = strings.Cut(s.URL, "#")
	}
	s.Hash, s.Text = topicqueue.TextHash(body), body
	s.ID = topicqueue.SourceID(s)
	return s, passages, err
}
