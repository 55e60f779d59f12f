// Package intake reads and checks lists of topics, finds what stands there twice, and says how each topic is
// researched. Nothing is enqueued here.
//
// Entry points: [Read] and [NewPlan].
package intake

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"path/filepath"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/pipeline/knowledge"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/topiclist"
)

// List is a list of topics that was read and checked. It keeps few bytes a topic; the topics lie in the spool.
type List struct {
	Name     string // for messages
	Format   topiclist.Format
	spool    *spool
	Lines    []int32              // of the topics in the spool
	same     []int32              // by topic: the number of an earlier one with the same run; -1: none
	near     []int32              // of an earlier one that is nearly the same; -1: none
	there    *batchTopics         // what the batch has already; nil: nothing
	repeats  []int32              // number of one of these that is nearly the same, or the same under another id; -1: none
	Apart    error                // why it was not compared with what the batch has
	Options  []topicqueue.Options // that the topics name by number
	Problems problemList
	Unused   []string // columns that mean nothing
	Unknown  []string // words in braces that are no variables of a schedule
	Clashes  []string // variables of a schedule that are columns, too
}

// Close gives the spool back.
func (l *List) Close() error { return errors.Join(l.spool.Close(), l.there.Close()) }

// ShortName is a list's name as it is shown.
func (l *List) ShortName() string { return filepath.Base(l.Name) }

// head returns the topic whose run this one's is: itself, or an earlier one that is the same, or, with near, nearly
// the same; -1, with near, when the batch has such a one.
func (l *List) head(i int32, near bool) int32 {
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
	Count int
}

func (p *problemList) add(format string, args ...any) {
	if p.Count++; p.Count <= mostProblems {
		p.first = append(p.first, fmt.Sprintf(format, args...))
	}
}

func (p *problemList) Text() string {
	text := strings.Join(p.first, "\n  ")
	if more := p.Count - len(p.first); more > 0 {
		text += fmt.Sprintf("\n  and %d more", more)
	}
	return text
}

// Request says which list is read, and how.
type Request struct {
	Flags
	KB        string // knowledge base of topics that name none
	File      string // its name; - is standard input
	Batch     string // into which it is enqueued; empty: a new one
	Priority  string
	Format    string
	Template  string
	Tags      []string
	Now       time.Time         // against which deadlines of topics are read; zero: the clock's
	Variables map[string]string // of a schedule
	Foreign   bool              // it comes from elsewhere: its topics name no files of this machine
}

// listReader checks the rows of a list.
type listReader struct {
	cfg     config.Config
	flags   Flags
	now     time.Time
	kb      string // of topics that name none
	tags    []string
	lane    string
	bases   []string // that there are
	foreign bool     // see Request
	known   map[string]known
	ids     map[uint64]int32 // what makes a run its own: the number of its topic
	entered []entered
	seed    maphash.Seed
	similar *topicqueue.Duplicates
	list    *List
	err     error // what is wrong with the options of the batch
}

// known is what options of their own come to.
type known struct {
	options int
	problem string
}

// entered is what is kept of a topic for those below: hashes of its text and of what it is researched in.
type entered struct{ topic, scope uint64 }

// Read reads and checks a list. The error is for what ends the reading; what is wrong with single lines is in the
// list.
func Read(ctx context.Context, cfg config.Config, con *view.Console, in io.Reader, f Request) (*List,
	error) {
	format, err := topiclist.ParseFormat(f.Format)
	if err != nil {
		return nil, view.Usage(err)
	}
	var template *topiclist.Template
	if f.Template != "" {
		if template, err = topiclist.ParseTemplate(f.Template); err != nil {
			return nil, view.Usage(err)
		}
	}
	name := f.File
	if name == "-" {
		name = "standard input"
	}
	r := &listReader{cfg: cfg, flags: f.Flags, kb: f.KB, now: time.Now(), known: map[string]known{},
		ids:     map[uint64]int32{},
		seed:    maphash.MakeSeed(),
		similar: topicqueue.NewDuplicates(), list: &List{Name: name}, foreign: f.Foreign}
	if !f.Now.IsZero() {
		r.now = f.Now
	}
	if r.lane, err = laneOf(f.Priority); err != nil {
		return nil, err
	}
	if r.tags, err = checkTags(f.Tags); err != nil {
		return nil, view.Usage(err)
	}
	if r.bases, err = knowledge.List(wiring.KnowledgeDir(cfg)); err != nil {
		return nil, err
	}
	rows, err := topiclist.NewReader(in, f.File, format, template, f.Variables)
	if err != nil {
		return nil, view.Usage(fmt.Errorf("read topics from %s: %w", name, err))
	}
	if r.list.spool, err = newSpool(); err != nil {
		return nil, err
	}
	if f.Batch != "" {
		r.list.there, r.list.Apart = readBatch(ctx, cfg, con, f.Batch, r.similar)
	}
	if err := r.read(ctx, rows); err != nil {
		return nil, errors.Join(err, r.list.Close())
	}
	r.list.Format, r.list.Unused, r.list.Unknown, r.list.Clashes = rows.Format(), rows.Unused(),
		rows.Unknown(), rows.Clashes()
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
			r.list.Problems.add("%v", wrong)
			continue
		case err != nil:
			return fmt.Errorf("read topics from %s: %w", r.list.Name, err)
		}
		t, problem := r.check(row)
		if r.err != nil {
			return r.err
		}
		if problem != "" {
			r.list.Problems.add("line %d: %s", row.Line, problem)
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

// enter notes a topic among those that were read. problem: another one with the same run is something else.
func (r *listReader) enter(t Topic) (problem string) {
	o := r.list.Options[t.Options]
	scope := scopeOf(o)
	topic := topicqueue.TopicKey(t.Topic)
	identity := "topic\x00" + topic
	if t.Ref != "" {
		identity = "id\x00" + t.Ref
	}
	me := entered{maphash.String(r.seed, topic), maphash.String(r.seed, scope)}
	id, same := maphash.String(r.seed, identity), int32(-1)
	if number, ok := r.ids[id]; ok {
		line, first := r.list.Lines[number], r.entered[number]
		switch {
		case first.topic != me.topic:
			return fmt.Sprintf("the id %q is that of line %d, which has another topic", topicqueue.Clip(t.Ref, 60), line)
		case first.scope != me.scope && t.Ref != "":
			return fmt.Sprintf("the id %q is that of line %d, which has another language, knowledge base or other sources",
				topicqueue.Clip(t.Ref, 60), line)
		case first.scope != me.scope:
			return fmt.Sprintf("same topic as line %d, with another language, knowledge base or other sources; "+
				"give it an id if you want a separate report", line)
		}
		same = number
	} else {
		r.ids[id] = int32(len(r.list.Lines))
	}
	r.entered = append(r.entered, me)
	r.list.Lines, r.list.same = append(r.list.Lines, int32(t.Line)), append(r.list.same, same)
	if r.list.there.has(t) {
		r.similar.Add("", scope) // it is in the batch, as a topic of which others below may be duplicates
	} else {
		r.similar.Add(t.Topic, scope)
	}
	return ""
}
