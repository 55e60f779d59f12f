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

// maxContent bounds one text that a span carries, in bytes.
const maxContent = 16 << 10

// Span is a part of a run, written when it has ended.
type Span struct {
	ID         string // names a structural span within its run; empty: a leaf, which is nobody's parent
	Parent     string // ID of the structural span above; empty: none, for the root
	Name       string // of the kind of work: few different ones
	Client     bool   // the work was done by another service
	Start, End time.Time
	Failed     string         // why it failed, as one of a few words; empty: it did not
	Attributes map[string]any // strings, ints, floats and bools
	// Content is what people, models and pages have written. It is sent only when the environment asks for it.
	Content map[string]string
}

// Run writes the spans of one run. The zero value writes nothing.
type Run struct {
	t  *Tracer
	id string
	at trace.SpanContext // its root
}

// Run returns the trace of a run; epoch counts its retries, of which each is a trace of its own.
func (t *Tracer) Run(id string, epoch int) Run {
	if t == nil {
		return Run{}
	}
	of := id
	if epoch > 0 {
		of = fmt.Sprintf("%s\x00%d", id, epoch)
	}
	r := Run{t: t, id: of}
	// The sampler decides by the trace id: every process decides alike, and for all spans of the run. This span only
	// asks it, and never ends.
	_, asked := t.tracer.Start(r.as(context.Background(), Root), Root)
	r.at = asked.SpanContext()
	return r
}

// On reports whether spans are sent.
func (r Run) On() bool { return r.t != nil && r.at.IsSampled() }

// Content reports whether Span.Content is sent.
func (r Run) Content() bool { return r.On() && r.t.content }

// Flush sends what waits, see Tracer.Flush.
func (r Run) Flush(ctx context.Context) {
	if r.On() {
		r.t.Flush(ctx)
	}
}

// Write sends a span, soon. It never blocks; when too much waits to be sent, the span is lost.
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
	if s.End.Before(s.Start) { // two clocks
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

// wanted is the key under which a context says which ids the next span is to have.
type wanted struct{}

type ids struct {
	trace trace.TraceID
	span  trace.SpanID
}

// as returns a context in which a span begins that has the id of this structural one, or any id.
func (r Run) as(ctx context.Context, id string) context.Context {
	var want ids
	sum := sha256.Sum256([]byte(r.id))
	copy(want.trace[:], sum[:])
	if want.span = r.spanID(id); id == "" {
		want.span = anyID()
	}
	return context.WithValue(ctx, wanted{}, want)
}

// spanID derives the id of a structural span.
func (r Run) spanID(id string) (out trace.SpanID) {
	sum := sha256.Sum256([]byte(r.id + "\x00" + id))
	copy(out[:], sum[:])
	return out
}

// derived gives spans the ids that their contexts ask for.
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
		id[i] = byte(rand.UintN(255) + 1) // an id of zeros is none
	}
	return id
}
