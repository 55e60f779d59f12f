package recheck

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
	likePassages = 8    // passages of a knowledge base most similar to a sentence
	maxCompared  = 1000 // changed documents; beyond it, only those found by a search are compared
	mostPassages = 200  // maximum number of ranked passages of a knowledge base
	halfAsGood   = 0.5  // minimum share of the best score for a document to be about the topic
)

// Documents provides the texts of a knowledge base; *knowledge.Base implements it. It is safe for concurrent use.
type Documents interface {
	// Text returns the whole text of a document. The error wraps fs.ErrNotExist if the key is unknown.
	Text(ctx context.Context, document string) (string, error)
	// Passages returns all passages of a document in order, or none if the key is unknown.
	Passages(ctx context.Context, document string) ([]topicqueue.Source, error)
	// Hashes returns the hash of each document by key. Equal documents have equal hashes.
	Hashes(ctx context.Context) (map[string]string, error)
	// Like returns up to limit passages that share most words with text, best first, with their Share.
	Like(ctx context.Context, text string, limit int) ([]topicqueue.Source, error)
}

// lookAtDocument compares a document with its earlier version.
func (v *Visit) lookAtDocument(ctx context.Context, document string, cited bool) error {
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
	l.call.Call = Call{ID: fmt.Sprintf("%s/1.%d", v.Block.ID, v.calls), Tool: recurring.ReadDocument, Query: document}
	v.looks[key] = l
	if l.then.Text != "" && v.edited != nil && !v.edited[document] {
		l.state, l.now, l.text = asItWas, []topicqueue.Source{l.then}, l.then.Text
		return nil
	}
	if l.then.Text == "" && v.Before != nil {
		l.then, _, err = wholeDocument(ctx, v.Before, document)
		if err == nil { // not kept by the last run
			l.then.AsOf = &topicqueue.AsOf{RunID: v.Run.ID, Date: v.Memory.Since(v.Span.Now)}
			err = v.Runner.Pages.PutPage(ctx, v.Run.ID, l.then.Hash, l.then.Text)
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
	l.call.Answer.Raw = topicqueue.PagePath(now.Hash)
	return nil
}

// keyOf returns the recurring.PageKey of a document.
func keyOf(document string) string {
	return recurring.PageKey(topicqueue.Source{Kind: topicqueue.SourceDocument, Document: document})
}

// compareBases finds the documents added, changed or removed since the last run, if that run's knowledge base is
// available.
func (v *Visit) compareBases(ctx context.Context) error {
	if v.edited != nil || v.Documents == nil || v.Before == nil && !v.SameBase() {
		return nil
	}
	edited := map[string]bool{}
	if !v.SameBase() {
		then, err := v.Before.Hashes(ctx)
		if err != nil {
			return v.failed(ctx, v.Run.Options.KnowledgeBase, err)
		}
		now, err := v.Documents.Hashes(ctx)
		if err != nil {
			return v.failed(ctx, v.Run.Options.KnowledgeBase, err)
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

// compareTopic sets broad if at least half of the documents of the last run's knowledge base are about the topic. It is
// needed only without a model and if documents changed.
func (v *Visit) compareTopic(ctx context.Context, edited, documents int) error {
	if v.Modelled || edited == 0 || documents > mostPassages {
		return nil
	}
	like, err := v.Before.Like(ctx, v.Run.Topic, mostPassages)
	if err != nil {
		return v.failed(ctx, v.Run.Topic, err)
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

// lookAtBase compares other changed documents that match this block better than the other blocks, unless there are too
// many of them.
func (v *Visit) lookAtBase(ctx context.Context) error {
	if len(v.edited) > maxCompared {
		return nil
	}
	for _, document := range slices.Sorted(maps.Keys(v.edited)) {
		mine, err := v.isMine(ctx, document)
		if err == nil && mine {
			err = v.lookAtDocument(ctx, document, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isMine reports whether a document covers the words of this block's title, overview and queries better than those of
// any other block. The first block wins ties. A removed document is judged by its old text.
func (v *Visit) isMine(ctx context.Context, document string) (bool, error) {
	body, err := v.Documents.Text(ctx, document)
	if errors.Is(err, fs.ErrNotExist) && v.Before != nil {
		body, err = v.Before.Text(ctx, document)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, v.failed(ctx, document, err)
	}
	best, most := "", -1.0
	for _, b := range v.Memory.Blocks {
		t := b.SubTopic
		about := text.Coverage(body, strings.Join(append([]string{t.Title, t.Overview}, t.Queries...), "\n"))
		if !b.Unfinished && about > most {
			best, most = b.ID, about
		}
	}
	return best == v.Old.ID, nil
}

// lookAtLike compares the documents most similar to the lost sentences of claims.
func (v *Visit) lookAtLike(ctx context.Context, losses []loss) error {
	for _, l := range losses {
		if v.Documents == nil || l.look.call.Tool != recurring.ReadDocument {
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

// wholeDocument returns a document as one source, and its passages. The error wraps fs.ErrNotExist if the key is
// unknown.
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
