package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"nightdesk/jobs/history"
	"nightdesk/jobs/stage"
	"nightdesk/jobs/steady"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/reporting"
	"nightdesk/pipeline/researching"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// memories reads and writes the memories of recurring topics.
type memories struct {
	store   storage.Store
	toolbox func(context.Context, topicqueue.Run) (Toolbox, error)
}

// recall returns the memory of a run's topic and its key in storage. It is the newest memory that is from another run
// and whose evidence still exists. The texts of its sources are then in the run's own bundle. If it returns nil, the
// run starts without a memory.
func (s *memories) recall(ctx context.Context, run topicqueue.Run) (m *recurring.Memory, at string, err error) {
	if !run.Options.Incremental {
		return nil, "", nil
	}
	err = steady.Do(ctx, "recall the topic", func(ctx context.Context) error {
		m = nil
		versions, err := storage.TopicVersions(ctx, s.store, recurring.Key(run.Topic, run.Options))
		if err != nil {
			return err
		}
		for _, version := range slices.Backward(versions) {
			found, err := s.load(ctx, run, version)
			if err != nil {
				return err
			}
			if found == nil || found.RunID == run.ID { // from an earlier attempt of this run, which is retried
				continue
			}
			if err := s.adopt(ctx, run.ID, found); errors.Is(err, storage.ErrNotExist) {
				zerolog.Ctx(ctx).Warn().Err(err).Str("memory",
					version).Msg("evidence of the last run no longer exists; the topic is researched from the start")
				return nil
			} else if err != nil {
				return err
			}
			m, at = found, version
			return nil
		}
		return nil
	})
	return m, at, err
}

// remarksTime limits the reading of remarks, because runs do not wait for them.
const remarksTime = 5 * time.Second

// remarks returns readers' remarks on the last reports about a run's topic, for its writers. It returns none while the
// storage is unavailable.
func (s *memories) remarks(ctx context.Context, run topicqueue.Run) []topicqueue.Remark {
	ctx, cancel := context.WithTimeout(ctx, remarksTime)
	defer cancel()
	due, err := history.Due(ctx, s.store, run)
	if err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("readers' remarks could not be read; the report is written without them")
	}
	return due
}

// load reads a version of a topic's memory; nil if it is missing or has another format.
func (s *memories) load(ctx context.Context, run topicqueue.Run, at string) (*recurring.Memory, error) {
	body, err := s.store.Get(ctx, at)
	if errors.Is(err, storage.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := recurring.Decode(body, recurring.Key(run.Topic, run.Options))
	if err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Str("memory", at).Msg("topic memory unreadable, ignored")
		return nil, nil
	}
	return m, nil
}

// before returns the memory that a run's plan builds on; nil when there is none.
func (s *memories) before(ctx context.Context, run topicqueue.Run, plan topicqueue.Plan) (*recurring.Memory,
	error) {
	if plan.Memory == "" {
		return nil, nil
	}
	return steady.Get(ctx, "recall the topic", func(ctx context.Context) (*recurring.Memory, error) {
		return s.load(ctx, run, plan.Memory)
	})
}

// adopt copies the data that the next run of a topic needs into its bundle: the texts and figures that the traces of a
// memory refer to, and the pages that still exist.
func (s *memories) adopt(ctx context.Context, runID string, m *recurring.Memory) error {
	needed, wanted := m.Texts()
	var keys []string // relative to the data of a run
	for _, hash := range append(needed, wanted...) {
		keys = append(keys, topicqueue.PagePath(hash))
	}
	keys = append(keys, m.Figures()...)
	copies := make([]storage.Artefact, len(keys))
	err := storage.Each(ctx, len(keys), func(ctx context.Context, i int) error {
		key := storage.CacheKey(runID, keys[i])
		if there, err := s.store.Exists(ctx, key); err != nil || there { // content-addressed
			return err
		}
		body, err := s.store.Get(ctx, storage.CacheKey(m.RunID, keys[i]))
		if errors.Is(err, storage.ErrNotExist) && i >= len(needed) && i < len(needed)+len(wanted) {
			return nil
		}
		copies[i] = storage.Artefact{Key: key, Body: body}
		return err
	})
	if err != nil {
		return err
	}
	copies = slices.DeleteFunc(copies, func(a storage.Artefact) bool { return a.Key == "" })
	return storage.PutMany(ctx, s.store, copies)
}

// remember stores the results of this run that the next run of the topic needs, as a new version of the topic's memory.
// If several runs end at once, the run that was enqueued last wins.
func (s *memories) remember(ctx context.Context, a *stage.Attempt, in reporting.Input, rep *reporting.Report) error {
	if !a.Run.Options.Incremental || rep == nil || in.Plan.Path == topicqueue.PathShallow { // answered afresh each time
		return nil
	}
	base, err := s.before(ctx, a.Run, in.Plan)
	if err != nil {
		return err
	}
	ended := recurring.Ended{Run: a.Run, Epoch: a.Epoch, Plan: in.Plan, Review: in.Review, Returned: in.Returned}
	for _, b := range in.Blocks {
		ended.Blocks = append(ended.Blocks, recurring.BlockEvidence(b))
	}
	for _, g := range rep.Gaps {
		ended.Open = append(ended.Open, recurring.Open(g))
	}
	if rep.Text != nil {
		if ended.Text, err = json.Marshal(rep.Text); err != nil {
			return fmt.Errorf("encode the text of run %s: %w", a.Run.ID, err)
		}
	}
	m := recurring.Make(base, ended)
	if m == nil {
		return nil
	}
	for {
		versions, err := storage.TopicVersions(ctx, s.store, m.Key)
		if err != nil {
			return err
		}
		m.Version = 1
		if len(versions) > 0 {
			newest, err := s.load(ctx, a.Run, versions[len(versions)-1])
			if err != nil {
				return err
			}
			if newest != nil && !m.Later(newest) {
				return nil
			}
			m.Version = storage.TopicVersion(versions[len(versions)-1]) + 1
		}
		body, err := json.Marshal(m)
		if err != nil {
			return fmt.Errorf("encode the memory of run %s: %w", a.Run.ID, err)
		}
		at := storage.TopicVersionKey(m.Key, m.Version)
		if created, err := s.store.PutNew(ctx, at, body); err != nil || created { // else another run was faster
			return err
		}
	}
}

// documents returns the documents of the knowledge base as they were in the run of a memory; nil if they are no longer
// available.
func (s *memories) documents(ctx context.Context, run topicqueue.Run, m *recurring.Memory) (researching.Documents,
	error) {
	if m.KnowledgeVersion == "" {
		return nil, nil
	}
	run.Options.KnowledgeVersion = m.KnowledgeVersion
	box, err := s.toolbox(ctx, run)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil { // the memory keeps the statements reported from them
		zerolog.Ctx(ctx).Warn().Err(err).Str("version",
			m.KnowledgeVersion).Msg("the knowledge base version of the last run no longer exists: unread parts may be " +
			"reported as new")
		return nil, nil
	}
	return box.Documents, nil
}
