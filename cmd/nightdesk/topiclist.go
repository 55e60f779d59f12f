package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nightdesk/config"
	"nightdesk/jobs"
	"nightdesk/pipeline/knowledge"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/topiclist"
)

// topicList is a list of topics that was read and checked. It keeps few bytes a topic; the topics lie in the spool.
type topicList struct {
	name     string // for messages
	format   topiclist.Format
	spool    *spool
	lines    []int32              // of the topics in the spool
	same     []int32              // by topic: the number of an earlier one with the same run; -1: none
	near     []int32              // of an earlier one that is nearly the same; -1: none
	there    *batchTopics         // what the batch has already; nil: nothing
	repeats  []int32              // number of one of these that is nearly the same, or the same under another id; -1: none
	apart    error                // why it was not compared with what the batch has
	options  []topicqueue.Options // that the topics name by number
	problems problemList
	unused   []string // columns that mean nothing
}

// Close gives the spool back.
func (l *topicList) Close() error { return errors.Join(l.spool.Close(), l.there.Close()) }

// head returns the topic whose run this one's is: itself, or an earlier one that is the same, or, with near, nearly the same;
// -1, with near, when the batch has such a one.
func (l *topicList) head(i int32, near bool) int32 {
	for {
		switch {
		case l.same[i] >= 0:
			i = l.same[i]
		case near && l.repeats[i] >= 0:
			return -1
		case near && l.near[i] >= 0:
			i = l.near[i]
		default:
			return i
		}
	}
}

// mostProblems is how many lines with an error, or with a duplicate, are named.
const mostProblems = 20

// problemList keeps the first problems of a list and counts the others.
type problemList struct {
	first []string
	count int
}

func (p *problemList) add(format string, args ...any) {
	if p.count++; p.count <= mostProblems {
		p.first = append(p.first, fmt.Sprintf(format, args...))
	}
}

func (p *problemList) text() string {
	text := strings.Join(p.first, "\n  ")
	if more := p.count - len(p.first); more > 0 {
		text += fmt.Sprintf("\n  and %d more", more)
	}
	return text
}

// listReader checks the rows of a list.
type listReader struct {
	a       *app
	now     time.Time
	kb      string // of topics that name none
	tags    []string
	lane    string
	bases   []string // that there are
	known   map[string]known
	ids     map[uint64]int32 // what makes a run its own: the number of its topic
	entered []entered
	seed    maphash.Seed
	similar *topicqueue.Duplicates
	list    *topicList
	err     error // what is wrong with the options of the batch
}

// known is what options of their own come to.
type known struct {
	options int
	problem string
}

// entered is what is kept of a topic for those below: hashes of its text and of what it is researched in.
type entered struct{ topic, scope uint64 }

// readList reads and checks a list. The error is for what ends the reading; what is wrong with single lines is in the list.
func (a *app) readList(ctx context.Context, in io.Reader, f enqueueFlags) (*topicList, error) {
	format, err := topiclist.ParseFormat(f.format)
	if err != nil {
		return nil, usageError{err}
	}
	var template *topiclist.Template
	if f.template != "" {
		if template, err = topiclist.ParseTemplate(f.template); err != nil {
			return nil, usageError{err}
		}
	}
	name := f.file
	if name == "-" {
		name = "standard input"
	}
	r := &listReader{a: a, now: time.Now(), known: map[string]known{}, ids: map[uint64]int32{}, seed: maphash.MakeSeed(),
		similar: topicqueue.NewDuplicates(), list: &topicList{name: name}}
	if !f.now.IsZero() {
		r.now = f.now
	}
	if r.lane, err = laneOf(f.priority); err != nil {
		return nil, err
	}
	if r.tags, err = checkTags(f.tags); err != nil {
		return nil, usageError{err}
	}
	if r.bases, err = knowledge.List(a.knowledgeDir()); err != nil {
		return nil, err
	}
	rows, err := topiclist.NewReader(in, f.file, format, template)
	if err != nil {
		return nil, usageError{fmt.Errorf("read topics from %s: %w", name, err)}
	}
	if r.kb, _, err = a.findBase(ctx, a.cfg.KBName); err != nil {
		return nil, err
	}
	if r.list.spool, err = newSpool(); err != nil {
		return nil, err
	}
	if f.batch != "" {
		r.list.there, r.list.apart = a.readBatch(ctx, f.batch, r.similar)
	}
	if err := r.read(ctx, rows); err != nil {
		return nil, errors.Join(err, r.list.Close())
	}
	r.list.format, r.list.unused = rows.Format(), rows.Unused()
	return r.list, nil
}

func (r *listReader) read(ctx context.Context, rows *topiclist.Reader) error {
	for ctx.Err() == nil {
		row, err := rows.Next()
		var wrong *topiclist.RowError
		switch {
		case errors.Is(err, io.EOF):
			return r.compare()
		case errors.As(err, &wrong):
			r.list.problems.add("%v", wrong)
			continue
		case err != nil:
			return fmt.Errorf("read topics from %s: %w", r.list.name, err)
		}
		t, problem := r.check(row)
		if r.err != nil {
			return r.err
		}
		if problem != "" {
			r.list.problems.add("line %d: %s", row.Line, problem)
			continue
		}
		if err := r.list.spool.add(t); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// compare finds the topics that are nearly the same.
func (r *listReader) compare() error {
	if err := r.list.spool.flush(); err != nil {
		return err
	}
	var broken error
	there := r.list.there.size()
	found := r.similar.Find(func(i int) string {
		from, n := r.list.spool, i-there
		if n < 0 {
			from, n = r.list.there.spool, i
		}
		t, err := from.at(n)
		broken = errors.Join(broken, err)
		return t.Topic
	})
	for _, other := range found[there:] {
		near, repeats := int32(-1), int32(-1)
		if int(other) >= there {
			near = other - int32(there)
		} else {
			repeats = other
		}
		r.list.near, r.list.repeats = append(r.list.near, near), append(r.list.repeats, repeats)
	}
	return broken
}

// check checks a row and resolves its options. problem: what is wrong with it.
func (r *listReader) check(row topiclist.Row) (t spooledTopic, problem string) {
	t = spooledTopic{Line: row.Line, Topic: strings.TrimSpace(row.Topic), Lane: r.lane, Ref: row.Options["id"]}
	if row.Topic == "" && len(row.Options) > 0 {
		return t, "it has no topic"
	}
	if err := jobs.CheckTopic(t.Topic); err != nil {
		return t, err.Error()
	}
	if topicqueue.OneLine(t.Ref) != t.Ref || len(t.Ref) > mostRef {
		return t, fmt.Sprintf("the id must be one line of at most %d bytes", mostRef)
	}
	var err error
	if p := row.Options["priority"]; p != "" {
		if t.Lane, err = laneOf(strings.ToLower(p)); err != nil {
			return t, err.Error()
		}
	}
	own, err := checkTags(strings.FieldsFunc(row.Options["tags"], func(r rune) bool { return strings.ContainsRune(",;|", r) }))
	if err != nil {
		return t, err.Error()
	}
	t.Tags = union(r.tags, own)
	if d := row.Options["deadline"]; d != "" {
		if t.Deadline, err = deadlineAt(d, r.now); err != nil {
			return t, err.Error()
		}
	}
	k := r.resolve(row.Options)
	if k.problem != "" {
		return t, k.problem
	}
	t.Options = k.options
	if t.Deadline.IsZero() {
		t.Deadline = r.list.options[k.options].Deadline
	}
	return t, r.enter(t)
}

// rowSettings are the options of a row that are settings.
var rowSettings = []struct{ column, path string }{
	{"preset", "preset"}, {"language", "language"}, {"strategy", "researching.strategy"}, {"sources", "researching.sources"},
	{"duration", "limits.run_duration"}, {"budget", "limits.run_budget"}, {"citation_style", "reporting.citation_style"},
}

// resolve returns the number of a row's options, which come before those of the batch.
func (r *listReader) resolve(options map[string]string) known {
	key := options["kb"]
	for _, s := range rowSettings {
		key += "\x00" + options[s.column]
	}
	k, ok := r.known[key]
	if ok {
		return k
	}
	o, err := r.optionsOf(options)
	if err != nil && strings.Trim(key, "\x00") == "" {
		r.err = err // no topic's own doing
	}
	if err != nil {
		k.problem = strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "settings: ")), " ")
	} else {
		k.options = len(r.list.options)
		r.list.options = append(r.list.options, o)
	}
	r.known[key] = k
	return k
}

func (r *listReader) optionsOf(options map[string]string) (topicqueue.Options, error) {
	kb := cmp.Or(options["kb"], r.kb)
	if options["kb"] != "" && !slices.Contains(r.bases, kb) {
		return topicqueue.Options{}, fmt.Errorf("there is no knowledge base %q: make it with `nightdesk kb add --name NAME DIR`", topicqueue.Clip(kb, 60))
	}
	asked := map[string]string{}
	for _, s := range rowSettings {
		if v := options[s.column]; v != "" {
			asked[s.path] = v
		}
	}
	cfg, err := r.a.cfg.With(asked)
	if err != nil {
		var problems config.Problems
		if errors.As(err, &problems) {
			var texts []string
			for _, p := range problems {
				texts = append(texts, p.String())
			}
			err = errors.New(strings.Join(texts, "; "))
		}
		return topicqueue.Options{}, err
	}
	return r.a.optionsOf(cfg, kb)
}

// enter notes a topic among those that were read. problem: another one with the same run is something else.
func (r *listReader) enter(t spooledTopic) (problem string) {
	o := r.list.options[t.Options]
	scope := scopeOf(o)
	topic := topicqueue.TopicKey(t.Topic)
	identity := "topic\x00" + topic
	if t.Ref != "" {
		identity = "id\x00" + t.Ref
	}
	me := entered{maphash.String(r.seed, topic), maphash.String(r.seed, scope)}
	id, same := maphash.String(r.seed, identity), int32(-1)
	if number, ok := r.ids[id]; ok {
		line, first := r.list.lines[number], r.entered[number]
		switch {
		case first.topic != me.topic:
			return fmt.Sprintf("the id %q is that of line %d, which has another topic", topicqueue.Clip(t.Ref, 60), line)
		case first.scope != me.scope && t.Ref != "":
			return fmt.Sprintf("the id %q is that of line %d, which has another language, knowledge base or other sources", topicqueue.Clip(t.Ref, 60), line)
		case first.scope != me.scope:
			return fmt.Sprintf("it is the topic of line %d again, with another language, knowledge base or other sources: for a report of its own give it an id", line)
		}
		same = number
	} else {
		r.ids[id] = int32(len(r.list.lines))
	}
	r.entered = append(r.entered, me)
	r.list.lines, r.list.same = append(r.list.lines, int32(t.Line)), append(r.list.same, same)
	if r.list.there.has(t) {
		r.similar.Add("", scope) // it is in the batch, as a topic of which others below may be duplicates
	} else {
		r.similar.Add(t.Topic, scope)
	}
	return ""
}

// Bounds of labels, which stand in Redis with each run.
const (
	mostRef     = 200 // bytes
	mostTag     = 64  // bytes
	mostTags    = 20
	tagsAllowed = "tags are at most 20, each one line of at most 64 bytes without commas"
)

// checkTags cleans tags and checks them: no tag twice, no empty one.
func checkTags(tags []string) ([]string, error) {
	var out []string
	for _, tag := range tags {
		tag = strings.TrimSpace(tag)
		if tag == "" || slices.Contains(out, tag) {
			continue
		}
		if topicqueue.OneLine(tag) != tag || len(tag) > mostTag || strings.Contains(tag, ",") {
			return nil, fmt.Errorf("tag %q: %s", topicqueue.Clip(tag, 60), tagsAllowed)
		}
		out = append(out, tag)
	}
	if len(out) > mostTags {
		return nil, fmt.Errorf("%d tags: %s", len(out), tagsAllowed)
	}
	return out, nil
}

// union returns a, then those of b that are not in it.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// shortName is a list's name as it is shown.
func (l *topicList) shortName() string { return filepath.Base(l.name) }
