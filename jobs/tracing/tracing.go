// Package tracing sends the work of runs as OpenTelemetry spans to a collector, by OTLP over HTTP. It does not know
// what the spans mean.
//
// The usual environment variables enable and configure it. Without OTEL_EXPORTER_OTLP_ENDPOINT or
// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT there is no Tracer.
//
// One trace is one run, whichever processes work on it. A killed process never sends its current span, so children must
// not rely on a parent in the same process. Therefore a span is either structural or a leaf. A structural span has an
// ID from which its span id is derived, so that any process can add children before it is sent. A leaf has no children.
// The publisher of the run sends all structural spans together, from the queue's data.
//
// Entry points: [Start], [Tracer.Run] and [Run.Write].
package tracing

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Environment variables read here; the SDK reads the others.
const (
	endpointVariable       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	tracesEndpointVariable = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	protocolVariable       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	tracesProtocolVariable = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	exporterVariable       = "OTEL_TRACES_EXPORTER"
	disabledVariable       = "OTEL_SDK_DISABLED"
	contentVariable        = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
)

// Limits on the delay caused by an unavailable collector, unless the environment sets others.
const (
	exportTime = 5 * time.Second // for one batch, including retries; no other work waits for it
	batchTime  = time.Second     // between two batches: the most that a killed process loses
	flushTime  = time.Second     // how long the end of a run waits for its spans
	stopTime   = 2 * time.Second // how long the end of a process waits
)

// Tracer sends spans. A nil Tracer sends nothing and costs nothing. Safe for concurrent use.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	exporter *exporter
	content  bool
}

// Endpoint returns where traces are sent, without credentials; empty: nowhere. The error describes a problem in the
// environment.
func Endpoint() (string, error) {
	address := cmp.Or(os.Getenv(tracesEndpointVariable), os.Getenv(endpointVariable))
	exporter := strings.TrimSpace(os.Getenv(exporterVariable))
	if address == "" || exporter == "none" || strings.EqualFold(os.Getenv(disabledVariable), "true") {
		return "", nil
	}
	if exporter != "" && exporter != "otlp" {
		return "", fmt.Errorf("%s is %q, but the only supported trace exporter is otlp", exporterVariable, exporter)
	}
	if protocol := cmp.Or(os.Getenv(tracesProtocolVariable), os.Getenv(protocolVariable)); protocol == "grpc" {
		return "", fmt.Errorf("%s is grpc, but traces are sent by HTTP: set it to http/protobuf and use the "+
			"collector's HTTP port, usually 4318", protocolVariable)
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("the OTLP endpoint is not an address such as http://localhost:4318")
	}
	return u.Scheme + "://" + u.Host, nil
}

// Start returns the Tracer configured by the environment, or nil if there is none. If the configuration cannot be used,
// Start logs that and returns nil.
func Start(ctx context.Context, log zerolog.Logger) *Tracer {
	endpoint, err := Endpoint()
	if err == nil && endpoint == "" {
		return nil
	}
	var t *Tracer
	if err == nil {
		t, err = start(ctx, log)
	}
	if err != nil {
		log.Warn().Err(err).Msg("tracing disabled")
		return nil
	}
	log.Info().Str("endpoint", endpoint).Msg("tracing enabled")
	return t
}

func start(ctx context.Context, log zerolog.Logger) (*Tracer, error) {
	// The SDK's own messages, such as an unreadable variable, go to our log.
	otel.SetLogger(funcr.New(func(_, args string) {
		log.Warn().Str("from", "opentelemetry").Msg(args)
	}, funcr.Options{Verbosity: 1}))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.Debug().Err(err).Str("from", "opentelemetry").Msg("traces")
	}))
	below, err := otlptracehttp.New(ctx, exportOptions()...)
	if err != nil {
		return nil, fmt.Errorf("set up tracing: %w", err)
	}
	host, _ := os.Hostname()
	version := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "nightdesk"), attribute.String("service.version", version),
		attribute.String("service.instance.id", fmt.Sprintf("%s:%d", host, os.Getpid())),
		attribute.String("host.name", host)), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	e := &exporter{SpanExporter: below, log: log}
	content := slices.Contains([]string{"true", "span_only", "span_and_event"},
		strings.ToLower(os.Getenv(contentVariable)))
	provider := sdk.NewTracerProvider(sdk.WithBatcher(e, batchOptions(content)...), sdk.WithIDGenerator(derived{}),
		sdk.WithResource(about))
	return &Tracer{provider: provider, tracer: provider.Tracer("nightdesk", trace.WithInstrumentationVersion(version)),
		exporter: e, content: content}, nil
}

// batchOptions returns our defaults. With content, spans are large, so fewer wait in memory and are sent per request.
func batchOptions(content bool) (options []sdk.BatchSpanProcessorOption) {
	set := func(variable string, option sdk.BatchSpanProcessorOption) {
		if os.Getenv(variable) == "" {
			options = append(options, option)
		}
	}
	set("OTEL_BSP_SCHEDULE_DELAY", sdk.WithBatchTimeout(batchTime))
	set("OTEL_BSP_EXPORT_TIMEOUT", sdk.WithExportTimeout(exportTime))
	if content {
		set("OTEL_BSP_MAX_QUEUE_SIZE", sdk.WithMaxQueueSize(512))
		set("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", sdk.WithMaxExportBatchSize(64))
	}
	return options
}

func exportOptions() []otlptracehttp.Option {
	options := []otlptracehttp.Option{otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true,
		InitialInterval: exportTime / 10, MaxInterval: exportTime / 2, MaxElapsedTime: exportTime})}
	if os.Getenv("OTEL_EXPORTER_OTLP_TIMEOUT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT") == "" {
		options = append(options, otlptracehttp.WithTimeout(exportTime))
	}
	return options
}

// Check sends the collector an empty batch and returns an error if that fails.
func Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, exportTime)
	defer cancel()
	return otlptracehttp.NewClient(exportOptions()...).UploadTraces(ctx, nil)
}

// Flush sends waiting spans. It takes at most a second, and no time while the collector is unavailable.
func (t *Tracer) Flush(ctx context.Context) {
	if t == nil || t.exporter.failing.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	_ = t.provider.ForceFlush(ctx) // the exporter reports failures
}

// Stop sends waiting spans and ends the Tracer. It takes at most two seconds.
func (t *Tracer) Stop() error {
	if t == nil {
		return nil
	}
	limit := stopTime
	if t.exporter.failing.Load() {
		limit = stopTime / 10
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // the exporter reports failures
	return nil
}

// exporter logs once that the collector is unavailable, and once that it is back.
type exporter struct {
	sdk.SpanExporter
	log     zerolog.Logger
	failing atomic.Bool
}

// ExportSpans sends a batch. A batch that cannot be sent is lost.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	switch {
	case err != nil && !e.failing.Swap(true):
		e.log.Warn().Err(err).Msg("trace collector cannot be reached, so traces are lost; runs are not affected")
	case err == nil && e.failing.Swap(false):
		e.log.Info().Msg("trace collector can be reached again")
	}
	return nil
}
