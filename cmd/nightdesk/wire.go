package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

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
func (a *app) openStore(ctx context.Context) (storage.Store, error) {
	url := a.cfg.StorageURL.Reveal()
	if !strings.HasPrefix(url, "s3://") {
		return storage.NewDir(cmp.Or(strings.TrimPrefix(url, "file://"), a.cfg.DataDir)), nil
	}
	return a.openBucket(ctx, url)
}

// openBucket opens a folder of a bucket, with the settings of the storage.
func (a *app) openBucket(ctx context.Context, url string) (storage.Store, error) {
	bucket, prefix, err := storage.ParseS3(url)
	if err != nil {
		return nil, usageError{err}
	}
	s, err := storage.NewS3(ctx, storage.S3Settings{
		Bucket: bucket, Prefix: prefix, Endpoint: a.cfg.S3.Endpoint.Reveal(), Public: a.cfg.S3.PublicEndpoint.Reveal(),
		Region: a.cfg.S3.Region,
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// store opens the artefact store and checks that it takes what will be put into it: better now than after the work.
func (a *app) store(ctx context.Context) (storage.Store, error) {
	s, err := a.openStore(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.checkStore(ctx, s); err != nil {
		if _, local := s.(*storage.Dir); local {
			err = hintError{fmt.Errorf("the storage directory cannot be used: %w", err),
				"Choose another with --data-dir or STORAGE_URL=file:///dir, or make room there."}
		}
		return nil, err
	}
	if _, local := s.(*storage.Dir); !local {
		s = storage.NewSpool(s, filepath.Join(a.cfg.DataDir, "spool"))
	}
	return s, nil
}

// checkStore finds out whether the storage takes what will be put into it. A service waits for one that is away.
func (a *app) checkStore(ctx context.Context, s storage.Store) error {
	if a.service == "" {
		return storage.Check(ctx, s)
	}
	return a.await(ctx, "the storage", lastingStorage, func(ctx context.Context) error {
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

// model returns access to the configured models; nil when there are none. governor: nil for a command that makes a few
// calls of its own.
func (a *app) model(governor llm.Governor) (*llm.Client, error) {
	if !a.cfg.LLM.Enabled() {
		return nil, nil
	}
	return a.client(governor, a.roleModels())
}

// client returns access to the models of these roles. governor: see model.
func (a *app) client(governor llm.Governor, models []roleModel) (*llm.Client, error) {
	l := a.cfg.LLM
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
		Roles: roles, Governor: governor, HTTPClient: llm.NewHTTPClient(a.idleConnections()),
		Limits: topicqueue.CallLimits{RequestsPerMinute: l.RequestsPerMinute, TokensPerMinute: l.TokensPerMinute,
			InFlight: l.MaxInFlight},
	})
	if err != nil {
		return nil, usageError{err}
	}
	return client, nil
}

// roleModel is the model of one role.
type roleModel struct {
	role llm.Role
	config.Model
}

// roleModels returns the models of all roles, in the order of a run.
func (a *app) roleModels() []roleModel {
	l := a.cfg.LLM
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

// services puts together what a worker needs.
func (a *app) services(ctx context.Context, d *desk) (jobs.Services, error) {
	store, err := a.store(ctx)
	if err != nil {
		return jobs.Services{}, err
	}
	s := jobs.Services{
		Redis: d.redis, Queue: d.queue, Dispatcher: d.dispatcher, Store: store, Log: a.log, Now: d.clock.Now,
		Config: map[string]string{},
	}
	for _, e := range a.cfg.Effective() {
		s.Config[e.Path] = e.Value
	}
	if s.Prices, err = llm.ParsePrices(a.cfg.LLM.Prices); err != nil {
		return s, usageError{fmt.Errorf("llm.prices: %w", err)}
	}
	turns := governor.Start(ctx, d.redis, 0)
	d.closers = append(d.closers, turns.Close)
	model, err := a.model(turns)
	if err != nil {
		return s, err
	}
	var code tools.Tool // nil: there is none
	if model != nil {   // a nil *Client in the interface would not be nil
		s.Model = model
		if code, err = a.codeTool(ctx, d); err != nil { // without a model nobody writes programs
			return s, err
		}
	} else {
		a.say("no LLM_MODEL: working extractively, reports are made of verbatim quotes")
	}
	embedder, err := a.embedder(turns)
	if err != nil {
		return s, err
	}
	library := &library{
		dir: a.knowledgeDir(), limit: a.cfg.Researching.ResultLimit, store: store, embedder: embedder,
		open: map[string]*knowledge.Base{},
	}
	d.closers = append(d.closers, library.Close)
	pace := shared.NewPace(d.redis)
	outside, err := a.outside(pace)
	if err != nil {
		return s, err
	}
	engines, err := a.searchEngines(pace, outside)
	if err != nil {
		return s, err
	}
	index, err := a.paperIndex(outside, pace)
	if err != nil {
		return s, err
	}
	limit := a.cfg.Researching.ResultLimit
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

// outside returns the way to the web. pace: the rates that all workers share; nil for a command that works alone. own:
// what may be reached beside what fetch.allow says.
func (a *app) outside(pace fetch.Pace, own ...string) (*fetch.Client, error) {
	f := a.cfg.Fetch
	allow := strings.FieldsFunc(f.Allow, func(r rune) bool { return r == ',' || r == ' ' })
	for _, entry := range allow {
		if err := fetch.CheckAllow(entry); err != nil {
			return nil, usageError{fmt.Errorf("fetch.allow: %w", err)}
		}
	}
	return fetch.New(fetch.Settings{
		Allow: append(allow, own...), Timeout: f.Timeout, PerHost: f.PerHost, Pace: pace, Idle: a.idleConnections(),
	}), nil
}

// embedder returns what makes vectors; nil when nothing does. Static word vectors are loaded once for this process.
// governor: see model.
func (a *app) embedder(governor llm.Governor) (knowledge.Embedder, error) {
	e := a.cfg.Embedding
	if !e.Enabled() || a.made != nil {
		return a.made, nil
	}
	if e.Provider == config.ProviderStatic {
		words, err := wordvec.New(e.Model)
		if err != nil {
			return nil, usageError{fmt.Errorf("embedding.model: %w", err)}
		}
		a.made = words
		return words, nil
	}
	embedder, err := llm.NewEmbedder(llm.EmbedderSettings{
		Model: e.Model, BaseURL: e.BaseURL.Reveal(), APIKey: e.APIKey.Reveal(), Dimensions: e.Dimensions,
		Timeout: a.cfg.LLM.Timeout, MaxTries: a.cfg.LLM.MaxTries, Governor: governor,
		HTTPClient: llm.NewHTTPClient(a.idleConnections()),
	})
	if err != nil {
		return nil, usageError{err}
	}
	return embedder, nil
}

// workerSettings are the limits of this process. lanes: see jobs.Settings.
func (a *app) workerSettings(lanes ...string) jobs.Settings {
	return jobs.Settings{
		Lanes: lanes, Concurrency: a.cfg.Worker.Concurrency, ReportConcurrency: a.cfg.Worker.ReportConcurrency,
		MaxActions: a.cfg.Researching.MaxActions, ToolTimeout: a.cfg.Researching.ToolTimeout,
		PlannerTokens: a.cfg.LLM.Planner.ContextTokens, ResearcherTokens: a.cfg.LLM.Researcher.ContextTokens,
		ResultLimit: a.cfg.Researching.ResultLimit, SharedLifetime: a.cfg.Researching.SharedLifetime,
		Grace: a.cfg.Worker.ShutdownTimeout, PollInterval: 50 * time.Millisecond,
		RetryPause: time.Second, SweepInterval: time.Second, StateExpiry: a.cfg.Queue.StateExpiry,
	}
}
