package tracing

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"nightdesk/topicqueue"
)

// Root is the ID of the span of a run.
const Root = "run"

// maxContent is the maximum size of one text in a span, in bytes.
const maxContent = 16 << 10

// Span is a part of a run, written when it has ended.
type Span struct {
	ID         string // name of a structural span within its run; empty: a leaf without children
	Parent     string // ID of the parent structural span; empty: none, for the root
	Name       string // kind of work, from a small set
	Client     bool   // whether another service did the work
	Start, End time.Time
	Failed     string         // failure reason, from a small set; empty: no failure
	Attributes map[string]any // strings, ints, floats and bools
	// Content is text of users, models and pages. It is sent only if the environment enables it.
	Content map[string]string
}

// Run writes the spans of one run. The zero value writes nothing.
type Run struct {
	t  *Tracer
	id string
	at trace.SpanContext // context of its root span
}

// Run returns the trace of a run. epoch counts its retries; each retry has its own trace.
func (t *Tracer) Run(id string, epoch int) Run {
	if t == nil {
		return Run{}
	}
	of := id
	if epoch > 0 {
		of = fmt.Sprintf("%s\x00%d", id, epoch)
	}
	r := Run{t: t, id: of}
	// The sampler decides by trace id, so all processes agree for all spans of the run. This span only queries the
	// sampler and never ends.
	_, asked := t.tracer.Start(r.as(context.Background(), Root), Root)
	r.at = asked.SpanContext()
	return r
}

// On reports whether spans are sent.
func (r Run) On() bool { return r.t != nil && r.at.IsSampled() }

// Content reports whether Span.Content is sent.
func (r Run) Content() bool { return r.On() && r.t.content }

// Flush sends waiting spans, see Tracer.Flush.
func (r Run) Flush(ctx context.Context) {
	if r.On() {
		r.t.Flush(ctx)
	}
}

// Write queues a span for sending. It never blocks; if too many spans wait, this one is lost.
func (r Run) Write(s Span) {
	if !r.On() {
		return
	}
	ctx := r.as(context.Background(), s.ID)
	if s.Parent != "" {
		ctx = trace.ContextWithSpanContext(ctx, r.at.WithSpanID(r.spanID(s.Parent)).WithRemote(true))
	}
	kind := trace.SpanKindInternal
	if s.Client {
		kind = trace.SpanKindClient
	}
	if s.End.Before(s.Start) { // clocks of two machines
		s.End = s.Start
	}
	_, span := r.t.tracer.Start(ctx, s.Name, trace.WithSpanKind(kind), trace.WithTimestamp(s.Start),
		trace.WithAttributes(r.attributes(s)...))
	if s.Failed != "" {
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(s.End))
}

func (r Run) attributes(s Span) []attribute.KeyValue {
	var list []attribute.KeyValue
	for name, value := range s.Attributes {
		switch v := value.(type) {
		case string:
			if v != "" {
				list = append(list, attribute.String(name, v))
			}
		case int:
			list = append(list, attribute.Int(name, v))
		case float64:
			list = append(list, attribute.Float64(name, v))
		case bool:
			list = append(list, attribute.Bool(name, v))
		}
	}
	if s.Failed != "" {
		list = append(list, attribute.String("error.type", s.Failed))
	}
	if r.t.content {
		for name, text := range s.Content {
			if text != "" {
				list = append(list, attribute.String(name, topicqueue.Clip(topicqueue.Printable(text), maxContent)))
			}
		}
	}
	return list
}

// wanted is the context key of the ids for the next span.
type wanted struct{}

type ids struct {
	trace trace.TraceID
	span  trace.SpanID
}

// as returns a context in which the next span gets the id of this structural span, or a random id.
func (r Run) as(ctx context.Context, id string) context.Context {
	var want ids
	sum := sha256.Sum256([]byte(r.id))
	copy(want.trace[:], sum[:])
	if want.span = r.spanID(id); id == "" {
		want.span = anyID()
	}
	return context.WithValue(ctx, wanted{}, want)
}

// spanID returns the derived id of a structural span.
func (r Run) spanID(id string) (out trace.SpanID) {
	sum := sha256.Sum256([]byte(r.id + "\x00" + id))
	copy(out[:], sum[:])
	return out
}

// derived is an id generator that uses the ids in the context.
type derived struct{}

// NewIDs implements sdk/trace.IDGenerator.
func (derived) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	want, _ := ctx.Value(wanted{}).(ids)
	return want.trace, want.span
}

// NewSpanID implements sdk/trace.IDGenerator.
func (derived) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	want, _ := ctx.Value(wanted{}).(ids)
	return want.span
}

func anyID() (id trace.SpanID) {
	for i := range id {
		id[i] = byte(rand.UintN(255) + 1) // an id of zeros is invalid
	}
	return id
}
