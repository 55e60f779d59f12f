// Package intake reads and checks lists of topics, finds duplicates, and determines how each topic is researched. It
// does not enqueue anything.
//
// Entry points: [Read] and [NewPlan].
package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/pipeline/knowledge"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/topiclist"
)

// Topic is a checked topic of a list.
type Topic struct {
	Line     int
	Topic    string
	Options  int // index of its options in the list
	Lane     string
	Ref      string
	Tags     []string
	Deadline time.Time
}

// List is a list of topics that was read and checked.
type List struct {
	Name     string // for messages
	Format   topiclist.Format
	Topics   []Topic
	same     []int32              // by topic: index of an earlier topic with the same run; -1: none
	near     []int32              // index of a nearly identical earlier topic; -1: none
	there    *batchTopics         // topics already in the batch; nil: none
	repeats  []int32              // index in there of a nearly identical topic, or the same with another id; -1: none
	Apart    error                // why the list was not compared with the batch
	Options  []topicqueue.Options // options that topics refer to by index
	Problems problemList
	Unused   []string // ignored columns
	Unknown  []string // words in braces that are not variables of a schedule
	Clashes  []string // variables of a schedule that are also columns
}

// ShortName returns the base name of the list.
func (l *List) ShortName() string { return filepath.Base(l.Name) }

// head returns the index of the topic whose run topic i belongs to: i itself, or an earlier topic that is the same or,
// with near, nearly the same. With near, it returns -1 if the batch has a nearly identical topic.
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

// mostProblems is the maximum number of lines that are listed as invalid or as duplicates.
const mostProblems = 20

// problemList keeps the first problems of a list and counts the rest.
type problemList struct {
	first []string
	Count int
}

func (p *problemList) add(format string, args ...any) {
	if p.Count++; p.Count <= mostProblems {
		p.first = append(p.first, fmt.Sprintf(format, args...))
	}
}

func (p *problemList) text() string {
	text := strings.Join(p.first, "\n  ")
	if more := p.Count - len(p.first); more > 0 {
		text += fmt.Sprintf("\n  and %d more", more)
	}
	return text
}

// LinesError tells which lines of a list cannot be enqueued.
type LinesError struct {
	List  string // its name
	Count int
	Lines []string // the first of them, with reasons
}

func (e *LinesError) Error() string {
	return fmt.Sprintf("%d of the lines of %s cannot be enqueued:\n  %s", e.Count, e.List, strings.Join(e.Lines, "\n  "))
}

// Invalid returns a LinesError if lines of the list are invalid.
func (l *List) Invalid() error {
	if l.Problems.Count == 0 {
		return nil
	}
	return view.Usage(&LinesError{l.Name, l.Problems.Count, strings.Split(l.Problems.text(), "\n  ")})
}

// Empty returns an error if the list has no topic.
func (l *List) Empty() error {
	if len(l.Topics) > 0 {
		return nil
	}
	return view.Usage(fmt.Errorf("there is no topic in %s: give one per line", l.Name))
}

// Request describes which list to read, and how.
type Request struct {
	Flags
	KB        string // for topics that name none
	File      string // file name; - is standard input
	Batch     string // target batch; empty: a new one
	Priority  string
	Format    string
	Template  string
	Tags      []string
	Now       time.Time         // reference time for deadlines of topics; zero: now
	Variables map[string]string // of a schedule
	Queue     *redisqueue.Queue // has the batch; nil: that of the settings is opened
	Foreign   bool              // the list comes from elsewhere, so its topics must not name files of this machine
}

// listReader checks the rows of a list.
type listReader struct {
	cfg     config.Config
	flags   Flags
	now     time.Time
	kb      string // for topics that name none
	tags    []string
	lane    string
	bases   []string // existing knowledge bases
	foreign bool     // see Request
	known   map[string]known
	ids     map[string]int32 // index of the topic by the run's identity
	titles  titles
	list    *List
	err     error // an error in the options of the batch
}

// known is the result of resolving the options of a row.
type known struct {
	options int
	problem string
}

// Read reads and checks a list. It returns an error if reading fails; problems with single lines are in the list.
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
		ids:    map[string]int32{},
		titles: titles{}, list: &List{Name: name}, foreign: f.Foreign}
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
	if f.Batch != "" {
		r.list.there, r.list.Apart = readBatch(ctx, cfg, con, f)
	}
	if err := r.read(ctx, rows); err != nil {
		return nil, err
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
			return nil
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
		r.list.Topics = append(r.list.Topics, t)
	}
	return context.Cause(ctx)
}

// enter records a topic. problem is set if it conflicts with an earlier topic of the same run.
func (r *listReader) enter(t Topic) (problem string) {
	o := r.list.Options[t.Options]
	scope := scopeOf(o)
	topic := topicqueue.TopicKey(t.Topic)
	identity := "topic\x00" + topic
	if t.Ref != "" {
		identity = "id\x00" + t.Ref
	}
	same := int32(-1)
	if number, ok := r.ids[identity]; ok {
		first := r.list.Topics[number]
		elsewhere := scopeOf(r.list.Options[first.Options]) != scope
		switch {
		case topicqueue.TopicKey(first.Topic) != topic:
			return fmt.Sprintf("the id %q is that of line %d, which has another topic", topicqueue.Clip(t.Ref, 60), first.Line)
		case elsewhere && t.Ref != "":
			return fmt.Sprintf("the id %q is that of line %d, which has another language, knowledge base or other sources",
				topicqueue.Clip(t.Ref, 60), first.Line)
		case elsewhere:
			return fmt.Sprintf("same topic as line %d, with another language, knowledge base or other sources; "+
				"give it an id if you want a separate report", first.Line)
		}
		same = number
	} else {
		r.ids[identity] = int32(len(r.list.Topics))
	}
	r.list.same = append(r.list.same, same)
	near, repeats, key := int32(-1), int32(-1), titleKey(t.Topic, scope)
	if there := r.list.there; there == nil {
		near = r.titles.enter(key, len(r.list.Topics))
	} else if first, known := there.titles[key]; known && !there.has(t) {
		repeats = first
	} else if !known {
		near = r.titles.enter(key, len(r.list.Topics))
	}
	r.list.near, r.list.repeats = append(r.list.near, near), append(r.list.repeats, repeats)
	return ""
}
