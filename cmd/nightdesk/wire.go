package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/jobs"
	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/knowledge/wordvec"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/websearch"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/governor"
	"nightdesk/topicqueue/redisqueue/shared"
)

// openStore opens the artefact store for reading.
func openStore(ctx context.Context, cfg config.Config) (storage.Store, error) {
	url := cfg.StorageURL.Reveal()
	if !strings.HasPrefix(url, "s3://") {
		return storage.NewDir(cmp.Or(strings.TrimPrefix(url, "file://"), cfg.DataDir)), nil
	}
	return openBucket(ctx, cfg, url)
}

// openBucket opens a folder of a bucket, with the settings of the storage.
func openBucket(ctx context.Context, cfg config.Config, url string) (storage.Store, error) {
	bucket, prefix, err := storage.ParseS3(url)
	if err != nil {
		return nil, view.Usage(err)
	}
	s, err := storage.NewS3(ctx, storage.S3Settings{
		Bucket: bucket, Prefix: prefix, Endpoint: cfg.S3.Endpoint.Reveal(), Public: cfg.S3.PublicEndpoint.Reveal(),
		Region: cfg.S3.Region,
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// openWritableStore opens the artefact store and checks that it takes what will be put into it: better
// now than after the work.
func openWritableStore(ctx context.Context, cfg config.Config, con *view.Console) (storage.Store, error) {
	s, err := openStore(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := checkStore(ctx, con, s); err != nil {
		if _, local := s.(*storage.Dir); local {
			err = view.Hint(fmt.Errorf("the storage directory cannot be used: %w", err),
				"Choose another with --data-dir or STORAGE_URL=file:///dir, or make room there.")
		}
		return nil, err
	}
	if _, local := s.(*storage.Dir); !local {
		s = storage.NewSpool(s, filepath.Join(cfg.DataDir, "spool"))
	}
	return s, nil
}

// checkStore finds out whether the storage takes what will be put into it. A service waits for one that is away.
func checkStore(ctx context.Context, con *view.Console, s storage.Store) error {
	if con.Service == "" {
		return storage.Check(ctx, s)
	}
	return await(ctx, con, "the storage", lastingStorage, func(ctx context.Context) error {
		if err := readStore(ctx, s); err != nil { // which is found out sooner
			return err
		}
		return storage.Check(ctx, s)
	})
}

// readStore finds out within some seconds whether the storage can be read.
func readStore(ctx context.Context, s storage.Store) error {
	ctx, cancel := context.WithTimeoutCause(ctx, dialTime, fmt.Errorf("no success within %s", dialTime))
	defer cancel()
	return storage.CheckRead(ctx, s)
}

// newModel returns access to the configured models; nil when there are none. governor: nil for a command that makes a
// few calls of its own.
func newModel(cfg config.Config, governor llm.Governor) (*llm.Client, error) {
	if !cfg.LLM.Enabled() {
		return nil, nil
	}
	return newModelClient(cfg, governor, roleModels(cfg.LLM))
}

// newModelClient returns access to the models of these roles. governor: see model.
func newModelClient(cfg config.Config, governor llm.Governor, models []roleModel) (*llm.Client, error) {
	l := cfg.LLM
	roles := map[llm.Role]llm.RoleSettings{}
	for _, m := range models {
		roles[m.role] = llm.RoleSettings{
			Provider: llm.Provider(m.Provider), Model: m.Name, BaseURL: m.BaseURL.Reveal(), APIKey: m.APIKey.Reveal(),
			Temperature: m.Temperature,
			MaxTokens:   m.MaxTokens, ContextTokens: m.ContextTokens, Reasoning: m.Reasoning,
			Transport: auto[llm.Transport](m.Transport), TokenField: auto[string](m.TokenField), Timeout: l.Timeout,
			MaxTries: l.MaxTries,
		}
	}
	client, err := llm.NewClient(llm.Settings{
		Roles: roles, Governor: governor, HTTPClient: llm.NewHTTPClient(idleConnections(cfg)),
		Limits: topicqueue.CallLimits{RequestsPerMinute: l.RequestsPerMinute, TokensPerMinute: l.TokensPerMinute,
			InFlight: l.MaxInFlight},
	})
	if err != nil {
		return nil, view.Usage(err)
	}
	return client, nil
}

// roleModel is the model of one role.
type roleModel struct {
	role llm.Role
	config.Model
}

// roleModels returns the models of all roles, in the order of a run.
func roleModels(l config.LLM) []roleModel {
	return []roleModel{{llm.Planner, l.Planner}, {llm.Researcher, l.Researcher}, {llm.Note, l.Note},
		{llm.Writer, l.Writer}, {llm.Judge, l.Judge}}
}

// auto turns the setting "auto" into the zero value that asks for finding out.
func auto[T ~string](setting string) T {
	if setting == "auto" {
		return ""
	}
	return T(setting)
}

// newServices puts together what a worker needs.
func newServices(ctx context.Context, cfg config.Config, con *view.Console, d *desk, vectors *embedding) (jobs.Services,
	error) {
	store, err := openWritableStore(ctx, cfg, con)
	if err != nil {
		return jobs.Services{}, err
	}
	s := jobs.Services{
		Redis: d.redis, Queue: d.queue, Dispatcher: d.dispatcher, Store: store, Log: con.Log, Now: d.clock.Now,
		Config: map[string]string{},
	}
	for _, e := range cfg.Effective() {
		s.Config[e.Path] = e.Value
	}
	if s.Prices, err = llm.ParsePrices(cfg.LLM.Prices); err != nil {
		return s, view.Usage(fmt.Errorf("llm.prices: %w", err))
	}
	turns := governor.Start(ctx, d.redis, 0)
	d.closers = append(d.closers, turns.Close)
	model, err := newModel(cfg, turns)
	if err != nil {
		return s, err
	}
	var code tools.Tool // nil: there is none
	if model != nil {   // a nil *Client in the interface would not be nil
		s.Model = model
		if code, err = codeTool(ctx, cfg, con, d); err != nil { // without a model nobody writes programs
			return s, err
		}
	} else {
		con.Say("no LLM_MODEL: working extractively, reports are made of verbatim quotes")
	}
	embedder, err := vectors.embedder(turns)
	if err != nil {
		return s, err
	}
	library := &library{
		dir: knowledgeDir(cfg), limit: cfg.Researching.ResultLimit, store: store, embedder: embedder,
		open: map[string]*knowledge.Base{},
	}
	d.closers = append(d.closers, library.Close)
	pace := shared.NewPace(d.redis)
	outside, err := newFetcher(cfg, pace)
	if err != nil {
		return s, err
	}
	engines, err := searchEngines(cfg, pace, outside)
	if err != nil {
		return s, err
	}
	index, err := paperIndex(cfg, outside, pace)
	if err != nil {
		return s, err
	}
	limit := cfg.Researching.ResultLimit
	box := toolbox{bases: library, common: tools.Set{tools.NewOpenPage(outside), tools.NewPaperSearch(index, limit)}}
	if len(engines) > 0 {
		box.common = append(box.common, tools.NewWebSearch(websearch.NewChain(engines...), limit))
	}
	if code != nil { // there is a sandbox
		box.common = append(box.common, code)
	}
	s.Toolbox = box.of
	calls := shared.NewCalls(d.redis, shared.Lease)
	d.closers = append(d.closers, calls.Close) // before what its calls use
	s.Shared = calls
	return s, nil
}

// newFetcher returns the way to the web. pace: the rates that all workers share; nil for a command that works alone.
// own: what may be reached beside what fetch.allow says.
func newFetcher(cfg config.Config, pace fetch.Pace, own ...string) (*fetch.Client, error) {
	f := cfg.Fetch
	allow := strings.FieldsFunc(f.Allow, func(r rune) bool { return r == ',' || r == ' ' })
	for _, entry := range allow {
		if err := fetch.CheckAllow(entry); err != nil {
			return nil, view.Usage(fmt.Errorf("fetch.allow: %w", err))
		}
	}
	return fetch.New(fetch.Settings{
		Allow: append(allow, own...), Timeout: f.Timeout, PerHost: f.PerHost, Pace: pace, Idle: idleConnections(cfg),
	}), nil
}

// embedding makes embedders. Static word vectors are loaded once.
type embedding struct {
	cfg    config.Config
	static knowledge.Embedder // once it was asked for
}

// embedder returns what makes vectors; nil when nothing does. governor: see model.
func (v *embedding) embedder(governor llm.Governor) (knowledge.Embedder, error) {
	e := v.cfg.Embedding
	if !e.Enabled() || v.static != nil {
		return v.static, nil
	}
	if e.Provider == config.ProviderStatic {
		words, err := wordvec.New(e.Model)
		if err != nil {
			return nil, view.Usage(fmt.Errorf("embedding.model: %w", err))
		}
		v.static = words
		return words, nil
	}
	embedder, err := llm.NewEmbedder(llm.EmbedderSettings{
		Model: e.Model, BaseURL: e.BaseURL.Reveal(), APIKey: e.APIKey.Reveal(), Dimensions: e.Dimensions,
		Timeout: v.cfg.LLM.Timeout, MaxTries: v.cfg.LLM.MaxTries, Governor: governor,
		HTTPClient: llm.NewHTTPClient(idleConnections(v.cfg)),
	})
	if err != nil {
		return nil, view.Usage(err)
	}
	return embedder, nil
}

// workerSettings are the limits of this process. lanes: see jobs.Settings.
func workerSettings(cfg config.Config, lanes ...string) jobs.Settings {
	return jobs.Settings{
		Lanes: lanes, Concurrency: cfg.Worker.Concurrency, ReportConcurrency: cfg.Worker.ReportConcurrency,
		MaxActions: cfg.Researching.MaxActions, ToolTimeout: cfg.Researching.ToolTimeout,
		PlannerTokens: cfg.LLM.Planner.ContextTokens, ResearcherTokens: cfg.LLM.Researcher.ContextTokens,
		ResultLimit: cfg.Researching.ResultLimit, SharedLifetime: cfg.Researching.SharedLifetime,
		Grace: cfg.Worker.ShutdownTimeout, PollInterval: 50 * time.Millisecond,
		RetryPause: time.Second, SweepInterval: time.Second, StateExpiry: cfg.Queue.StateExpiry,
	}
}
