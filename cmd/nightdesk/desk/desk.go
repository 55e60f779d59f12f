// Package desk is what can be done with a nightdesk: it lists and reads runs and batches, adds and controls them. Each
// operation is one method with a typed request and a typed result. Commands, the API, the pages and the MCP tools are
// faces of it: they turn their input into the request and show the result, and keep no state.
//
// A field of a request or a result is declared here only. Its json tag is its name in all faces, its jsonschema tag
// describes it in the API and for assistants. An error that the caller can avoid has a kind and advice (package view).
//
// Entry points: [Open] and [Desk].
package desk

import (
	"context"
	"errors"
	"time"

	"nightdesk/cmd/nightdesk/bases"
	"nightdesk/cmd/nightdesk/desk/finding"
	"nightdesk/cmd/nightdesk/desk/health"
	"nightdesk/cmd/nightdesk/desk/remake"
	"nightdesk/cmd/nightdesk/desk/reports"
	"nightdesk/cmd/nightdesk/desk/schedules"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs/nights"
	"nightdesk/jobs/tasks"
	"nightdesk/storage"
	"nightdesk/topicqueue/schedule"
)

// Settings are the settings of a process, and where it speaks to a person.
type Settings struct {
	*view.Console // for notes, and the log
	Config        config.Config
	// Load loads the settings again. more overrides settings, including those from flags.
	Load func(more map[string]string) (config.Config, error)
}

// With returns the same with other settings.
func (s Settings) With(cfg config.Config) Settings {
	s.Config = cfg
	return s
}

// Desk is the queue and the storage of a nightdesk. It is safe for concurrent use and holds no state of its own, so
// that several processes can serve the same queue.
type Desk struct {
	Settings
	*wiring.Desk // nil: there is no queue, and runs are read from storage
	Store        storage.Store
	// ReadTopics replaces the reading of a list of topics at a firing, in tests.
	ReadTopics func(ctx context.Context, spec schedule.Spec, due, now time.Time) (nights.Snapshot, error)
}

// Opener opens a desk. The caller must close it.
type Opener func(context.Context, Settings) (*Desk, error)

// OpenStored opens the storage alone.
func OpenStored(ctx context.Context, s Settings) (*Desk, error) {
	store, err := wiring.OpenStore(ctx, s.Config)
	if err != nil {
		return nil, err
	}
	return &Desk{Settings: s, Store: store}, nil
}

// Open opens the storage and, if there is one, the queue.
func Open(ctx context.Context, s Settings) (*Desk, error) {
	d, err := OpenQueue(ctx, s)
	if wiring.IsNoQueue(err) {
		return OpenStored(ctx, s)
	}
	return d, err
}

// Ways to open the storage and the queue.
var (
	OpenQueue     = opener(wiring.Attach, false)    // the queue must exist
	OpenWorking   = opener(wiring.Attach, true)     // to add or process tasks: warns about problems with Redis in advance
	OpenOwn       = opener(wiring.Start, true)      // the same, but starts a local Redis if there is none
	OpenUnchecked = opener(wiring.Unchecked, false) // for a service that waits until Redis responds
)

func opener(how wiring.Opening, warn bool) Opener {
	return func(ctx context.Context, s Settings) (*Desk, error) {
		d, err := OpenStored(ctx, s)
		if err != nil {
			return nil, err
		}
		if d.Desk, err = wiring.OpenDesk(ctx, s.Config, s.Console, how); err != nil {
			return nil, err
		}
		if warn && !d.InMemory {
			d.Checks().WarnOfRedis(ctx)
		}
		return d, nil
	}
}

// Close closes the queue.
func (d *Desk) Close() error {
	if d.Desk == nil {
		return nil
	}
	return d.Desk.Close()
}

// HasQueue reports whether there is a queue.
func (d *Desk) HasQueue() bool { return d.Desk != nil }

// Reports returns the reports and digests.
func (d *Desk) Reports() reports.Desk {
	r := reports.Desk{Store: d.Store}
	if d.HasQueue() {
		r.Queue = d.Queue
	}
	return r
}

// Index opens the search in the reports of all runs. The caller must close it.
func (d *Desk) Index() *finding.Reports { return finding.Open(d.Config, d.Store, d.Console.Log) }

// Schedules returns the schedules of the queue.
func (d *Desk) Schedules() schedules.Desk {
	return schedules.Desk{Desk: d.Desk, Config: d.Config, Console: d.Console, Load: d.Load,
		Read: d.ReadTopics}
}

// Checks returns the health checks of the queue and its services.
func (d *Desk) Checks() health.Checker {
	return health.Checker{Config: d.Config, Console: d.Console, Desk: d.Desk, Store: d.Store}
}

// Remake makes reports of stored runs again.
func (d *Desk) Remake() remake.Desk {
	return remake.Desk{Store: d.Store, Config: d.Config, Console: d.Console}
}

// Bases returns the knowledge bases of this machine.
func (d *Desk) Bases() *bases.Bases { return bases.New(d.Config, d.Console) }

func (d *Desk) controls() tasks.Controls {
	return tasks.Controls{Queue: d.Queue, Dispatcher: d.Dispatcher}
}

// errEnough ends a walk that has found what it looks for.
var errEnough = errors.New("enough")
