// Package health checks everything that a nightdesk uses, and finds what prevents the queue from being processed.
//
// One list of checks serves the commands doctor, status and watch, the health pages, /healthz and /readyz. Each check
// belongs to a scope, because some of them ask servers on the internet and take seconds.
//
// Entry points: [Checker.Look] and [Checker.Stopping].
package health

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/storage"
)

// Results of a check.
const (
	OK     = "ok"
	Note   = "note"
	Failed = "failed"
)

// Check is the result of one check.
type Check struct {
	Name   string `json:"check"`
	Result string `json:"result" jsonschema:"ok, note or failed"`
	Text   string `json:"text"`
	Hint   string `json:"hint,omitempty" jsonschema:"what to do"`
	Stops  bool   `json:"stops,omitempty" jsonschema:"it prevents the queue from being processed, now or soon"`
	Down   bool   `json:"down,omitempty" jsonschema:"Redis or the storage cannot be used"`
	away   bool   // the service does not answer
	waits  bool   // calls wait for it
}

// Scope selects checks. Larger scopes include smaller ones.
type Scope int

// Scopes, in increasing order of what they take.
const (
	Vital  Scope = iota // what the queue needs: quick, read-only
	Shared              // also what all workers share in Redis
	All                 // also the services of this process, some of them on the internet
)

// Checker makes the checks.
type Checker struct {
	Config config.Config
	Desk   *wiring.Desk  // nil: no Redis can be reached, or none is configured
	Away   error         // why Desk is nil
	Store  storage.Store // nil: opened, and checked for writing
	// Ask sends each model a question, which costs some tokens.
	Ask     bool
	Console *view.Console // for messages while the storage is opened
}

// checks lists all checks in the order of their results.
var checks = []struct {
	name  string
	scope Scope
	// desk: the check reads Redis and is left out without it. Check redis reports why there is none.
	desk bool
	look func(Checker, context.Context, report) error
}{
	{"redis", Vital, false, Checker.redis},
	{"workers", Vital, true, Checker.workers},
	{"schedules", Vital, true, Checker.schedules},
	{"storage", Vital, false, Checker.storage},
	{"queue", Shared, true, Checker.queue},
	{"knowledge", All, false, Checker.knowledge},
	{"embedding", All, false, Checker.embedding},
	{"web search", All, false, Checker.webSearch},
	{"paper_search", All, false, Checker.papers},
	{"run_code", All, false, Checker.sandbox},
	{"own tools", All, false, Checker.ownTools},
	{"prompts", All, false, Checker.prompts},
	{"model", All, false, Checker.models},
	{"prices", All, false, Checker.prices},
	{"model server", Vital, true, Checker.modelServers},
	{"mail", All, false, Checker.mail},
	{"pdf", All, false, Checker.pdf},
	{"speech", All, false, Checker.speech},
	{"tracing", All, false, Checker.tracing},
	{"webhooks", Shared, true, Checker.unsent},
}

// Look makes the checks of a scope at the same time, because an unavailable service answers late. It yields the results
// in the order of the list.
func (c Checker) Look(ctx context.Context, scope Scope) iter.Seq[Check] {
	return func(yield func(Check) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		var all []chan []Check
		for i, check := range checks {
			if check.scope <= scope {
				results := make(chan []Check, 1)
				all = append(all, results)
				running.Go(func() { results <- c.look(ctx, i) })
			}
		}
		for _, results := range all {
			for _, result := range <-results {
				if !yield(result) {
					return
				}
			}
		}
	}
}

// Stopping returns what prevents the queue from being processed, or soon will, and model servers that calls wait for.
// It omits other services that are unavailable, which callers report themselves.
func (c Checker) Stopping(ctx context.Context) (out []Check) {
	for result := range c.Look(ctx, Vital) {
		if result.Stops && !result.away || result.waits {
			out = append(out, result)
		}
	}
	return out
}

// Warn prints what may delay unfinished work.
func (c Checker) Warn(ctx context.Context) {
	for _, result := range c.Stopping(ctx) {
		c.Console.Say("warning: %s. %s", result.Text, result.Hint)
	}
}

func (c Checker) look(ctx context.Context, i int) []Check {
	check := checks[i]
	if check.desk && c.Desk == nil {
		return nil
	}
	r := report{check.name, new([]Check)}
	if err := check.look(c, ctx, r); err != nil {
		r.failed(view.HintOf(err), "%v", err)
	}
	return *r.results
}

// report collects the results of a check under a name.
type report struct {
	name    string
	results *[]Check
}

func (r report) named(name string) report { return report{name, r.results} }

func (r report) add(result, hint, format string, args ...any) *Check {
	*r.results = append(*r.results, Check{Name: r.name, Result: result, Text: fmt.Sprintf(format, args...), Hint: hint})
	return &(*r.results)[len(*r.results)-1]
}

func (r report) ok(format string, args ...any) *Check { return r.add(OK, "", format, args...) }
func (r report) note(hint, format string, args ...any) *Check {
	return r.add(Note, hint, format, args...)
}
func (r report) failed(hint, format string, args ...any) *Check {
	return r.add(Failed, hint, format, args...)
}
