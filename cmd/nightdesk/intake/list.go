// Package intake reads and checks lists of topics, finds duplicates, and determines how each topic is researched. It
// does not enqueue anything.
//
// Entry point: [Read].
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
	"nightdesk/config"
	"nightdesk/jobs/tasks"
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
	Known    bool // its run is in the batch already
}

// List is a list of topics that was read and checked.
type List struct {
	Name     string // for messages
	Format   topiclist.Format
	Topics   []Topic              // to enqueue
	Options  []topicqueue.Options // options that topics refer to by index
	Repeated int                  // number of lines with the same text or id as an earlier one
	Similar  int                  // number of lines that are nearly the same as an earlier one, or a topic of the batch
	Notes    []string             // what a person should know
	Problems LinesError
	Unknown  []string // words in braces that are not variables of a schedule
}

// Known returns the number of topics that the batch has already.
func (l *List) Known() (n int) {
	for _, t := range l.Topics {
		if t.Known {
			n++
		}
	}
	return n
}

// ShortName returns the base name of the list.
func (l *List) ShortName() string { return filepath.Base(l.Name) }

// mostProblems is the maximum number of lines that are listed as invalid or as duplicates.
const mostProblems = 20

// LinesError tells which lines of a list cannot be enqueued, or repeat others.
type LinesError struct {
	List  string // its name
	Count int
	Lines []string // the first of them, with reasons
}

func (e *LinesError) add(format string, args ...any) {
	if e.Count++; e.Count <= mostProblems {
		e.Lines = append(e.Lines, fmt.Sprintf(format, args...))
	}
}

func (e *LinesError) text() string {
	text := strings.Join(e.Lines, "\n  ")
	if more := e.Count - len(e.Lines); more > 0 {
		text += fmt.Sprintf("\n  and %d more", more)
	}
	return text
}

func (e *LinesError) Error() string {
	return fmt.Sprintf("%d of the lines of %s cannot be enqueued:\n  %s", e.Count, e.List, e.text())
}

// Invalid returns a LinesError if lines of the list are invalid.
func (l *List) Invalid() error {
	if l.Problems.Count == 0 {
		return nil
	}
	return view.Usage(&l.Problems)
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
	KB        string   // for topics that name none
	Bases     []string // the knowledge bases that topics can name
	File      string   // file name; - is standard input
	Batch     string   // target batch; empty: a new one
	Skip      bool     // leave out topics that are nearly the same as an earlier one
	Priority  string
	Format    string
	Template  string
	Tags      []string
	Now       time.Time         // reference time for deadlines of topics; zero: now
	Variables map[string]string // of a schedule
	Queue     *redisqueue.Queue // has the batch; nil: there is none
	Foreign   bool              // the list comes from elsewhere, so its topics must not name files of this machine
}

// listReader checks the rows of a list.
type listReader struct {
	Request
	cfg     config.Config
	lane    string
	known   map[string]known
	ids     map[string]Topic  // first topic by the run's identity
	titles  map[string]string // name of the first topic by its words and scope
	there   batchRuns
	repeats LinesError // lines that repeat others
	list    *List
	err     error // an error in the options of the batch
}

// known is the result of resolving the options of a row.
type known struct {
	options int
	problem string
}

// Read reads and checks a list. It returns an error if reading fails; problems with single lines are in the list.
func Read(ctx context.Context, cfg config.Config, in io.Reader, f Request) (*List, error) {
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
	r := &listReader{Request: f, cfg: cfg, known: map[string]known{}, ids: map[string]Topic{},
		titles: map[string]string{}, list: &List{Name: name, Problems: LinesError{List: name}}}
	if r.Now.IsZero() {
		r.Now = time.Now()
	}
	if r.lane, err = laneOf(f.Priority); err != nil {
		return nil, err
	}
	if r.Tags, err = checkTags(f.Tags); err != nil {
		return nil, view.Usage(err)
	}
	rows, err := topiclist.NewReader(in, f.File, format, template, f.Variables)
	if err != nil {
		return nil, view.Usage(fmt.Errorf("read topics from %s: %w", name, err))
	}
	if err := r.readBatch(ctx); err != nil {
		return nil, err
	}
	if err := r.read(ctx, rows); err != nil {
		return nil, err
	}
	if unused := rows.Unused(); len(unused) > 0 {
		r.list.Notes = append(r.list.Notes, fmt.Sprintf("%s: not used: %s", r.list.ShortName(), strings.Join(unused, ", ")))
	}
	r.noteRepeats()
	r.list.Format, r.list.Unknown = rows.Format(), rows.Unknown()
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
		problem := r.check(row)
		if r.err != nil {
			return r.err
		}
		if problem != "" {
			r.list.Problems.add("line %d: %s", row.Line, problem)
		}
	}
	return context.Cause(ctx)
}

// noteRepeats adds a note about lines that repeat others.
func (r *listReader) noteRepeats() {
	if r.repeats.Count == 0 {
		return
	}
	note := fmt.Sprintf("%s of %s repeating others:\n  %s", view.Counted(r.repeats.Count, "line"), r.list.Name,
		r.repeats.text())
	if !r.Skip && r.list.Similar > 0 {
		note += fmt.Sprintf("\n  What is nearly the same (%s) gets a report of its own; --dedupe skip changes that.",
			view.Counted(r.list.Similar, "topic"))
	}
	r.list.Notes = append(r.list.Notes, note)
}

// enter adds a topic to the list, unless an earlier one is the same. problem is set if it conflicts with an earlier
// topic of the same run.
func (r *listReader) enter(t Topic) (problem string) {
	scope := scopeOf(r.list.Options[t.Options])
	topic := topicqueue.TopicKey(t.Topic)
	identity := "topic\x00" + topic
	if t.Ref != "" {
		identity = "id\x00" + t.Ref
	}
	text := view.Clip(t.Topic, 80)
	if first, known := r.ids[identity]; known {
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
		r.list.Repeated++
		r.repeats.add("line %d repeats line %d, whose options are used: %s", t.Line, first.Line, text)
		return ""
	}
	r.ids[identity] = t
	if t.Known = r.there.has(t); !t.Known {
		if first := r.similar(t.Topic, r.list.Options[t.Options], fmt.Sprintf("line %d", t.Line)); first != "" {
			r.list.Similar++
			r.repeats.add("line %d is nearly the same as %s%s: %s", t.Line, first,
				map[bool]string{true: ", and is left out"}[r.Skip], text)
			if r.Skip {
				return ""
			}
		}
	}
	r.list.Topics = append(r.list.Topics, t)
	return ""
}

func laneOf(priority string) (string, error) {
	switch priority {
	case "high":
		return tasks.LaneHigh, nil
	case "normal", "":
		return "", nil
	case "low":
		return tasks.LaneLow, nil
	}
	return "", view.Usage(fmt.Errorf("priority %q is unknown: use high, normal or low", priority))
}
