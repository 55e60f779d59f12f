package wiring

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/jobs"
	"nightdesk/jobs/tracing"
	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/narration"
	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/websearch"
	"nightdesk/topicqueue/redisqueue/governor"
	"nightdesk/topicqueue/redisqueue/shared"
)

// NewServices creates the services of a worker.
func NewServices(ctx context.Context, cfg config.Config, con *view.Console, d *Desk) (jobs.Services, error) {
	store, err := OpenWritableStore(ctx, cfg, con)
	if err != nil {
		return jobs.Services{}, err
	}
	s := jobs.Services{
		Redis: d.Redis, Queue: d.Queue, Dispatcher: d.Dispatcher, Store: store, Log: con.Log, Now: d.Clock.Now,
		Config: map[string]string{},
	}
	for _, e := range cfg.Effective() {
		s.Config[e.Path] = e.Value
	}
	if s.Prices, err = llm.ParsePrices(cfg.LLM.Prices); err != nil {
		return s, view.Usage(fmt.Errorf("llm.prices: %w", err))
	}
	if own, err := OwnPrompts(cfg); err == nil && own != nil { // NewModel reports the error
		s.Config["prompts.fingerprint"] = own.Hash()
	}
	s.Tracer = tracing.Start(ctx, con.Log)
	d.closers = append(d.closers, s.Tracer.Stop)
	turns := governor.Start(ctx, d.Redis, 0)
	d.closers = append(d.closers, turns.Close)
	model, err := NewModel(cfg, turns, func(ctx context.Context, at llm.Position) func(string) {
		return d.Queue.Write(ctx, at.RunID, at.Stage, at.Block, at.Step)
	})
	if err != nil {
		return s, err
	}
	var code tools.Tool // run_code; nil: none
	if model != nil {   // a nil *Client in the interface would not be nil
		s.Model = model
		if code, err = codeTool(ctx, cfg, con, d); err != nil { // only models write programs
			return s, err
		}
	} else {
		con.Say("no LLM_MODEL: working extractively, reports are made of verbatim quotes")
	}
	embedder, err := NewEmbedder(cfg, turns)
	if err != nil {
		return s, err
	}
	if speaker, err := NewSpeech(cfg, turns); err == nil {
		s.Speech = speaker
	} else if !errors.Is(err, narration.ErrNoEngine) {
		return s, err
	}
	library := &library{dir: KnowledgeDir(cfg), store: store, embedder: embedder, open: map[string]*knowledge.Base{}}
	d.closers = append(d.closers, library.Close)
	pace := shared.NewPace(d.Redis)
	outside, err := NewFetcher(cfg, pace)
	if err != nil {
		return s, err
	}
	engines, err := NewSearchEngines(cfg, pace, outside)
	if err != nil {
		return s, err
	}
	index, err := NewPaperIndex(cfg, outside, pace)
	if err != nil {
		return s, err
	}
	own, err := NewOwnTools(cfg)
	if err != nil {
		return s, err
	}
	d.closers = append(d.closers, own.Close)
	box := toolbox{bases: library, store: store, own: own,
		common: tools.Set{tools.NewOpenPage(outside), tools.NewPaperSearch(index, tools.ResultLimit)}}
	if code != nil {
		box.common = append(box.common, code)
	}
	if len(engines) > 0 {
		box.common = append(box.common, tools.NewWebSearch(websearch.NewChain(engines...), tools.ResultLimit))
	}
	s.Toolbox = box.of
	calls := shared.NewCalls(d.Redis, shared.Lease)
	d.closers = append(d.closers, calls.Close) // closed before the services that its calls use
	s.Shared = calls
	return s, nil
}

// WorkerSettings returns the limits of this process. lanes: see jobs.Settings.
func WorkerSettings(cfg config.Config, lanes ...string) jobs.Settings {
	return jobs.Settings{
		Lanes: lanes, Concurrency: cfg.Worker.Concurrency, ReportConcurrency: reportSlots(cfg.Worker.Concurrency),
		ContextTokens: cfg.LLM.Main.ContextTokens, Grace: shutdownGrace,
		PollInterval: 50 * time.Millisecond, RetryPause: time.Second, SweepInterval: time.Second,
	}
}

// shutdownGrace is the time for calls in flight to finish after SIGTERM. Kubernetes kills after 30 seconds, and Compose
// and systemd can be told to wait.
const shutdownGrace = 20 * time.Second

// KnowledgeDir returns the directory of the knowledge bases on this machine.
func KnowledgeDir(cfg config.Config) string { return filepath.Join(cfg.DataDir, "knowledge") }

// reportSlots returns the number of slots for reports only, which a worker has in addition to concurrency, so that
// reports never wait for research. A run researches several times as long as it writes, so a fifth keeps up.
func reportSlots(concurrency int) int { return max(1, concurrency/5) }

// idleConnections returns the number of idle connections to keep, to one model server or to all pages.
func idleConnections(cfg config.Config) int {
	return min(64, 2*(cfg.Worker.Concurrency+reportSlots(cfg.Worker.Concurrency)))
}
