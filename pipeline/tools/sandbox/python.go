package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

const pageBytes = 64 << 10 // of WebAssembly

// Python runs programs in CPython as a WebAssembly module. A program can access only what this package provides. The
// module is compiled on the first run and cached in a directory. Safe for concurrent use.
type Python struct {
	module string
	cache  string
	limits Limits

	mu       sync.Mutex    // guards the fields below
	compiles chan struct{} // closed when compile returns
	runtime  wazero.Runtime
	stored   wazero.CompilationCache
	compiled wazero.CompiledModule
	err      error
}

// New returns the Python of a file python.wasm. cache: directory for the compiled module. The error is that of os.Stat.
func New(module, cache string, limits Limits) (*Python, error) {
	if _, err := os.Stat(module); err != nil {
		return nil, err
	}
	return &Python{module: module, cache: cache, limits: limits}, nil
}

// load compiles the module once. A caller can stop waiting; compilation continues for the others.
func (p *Python) load(ctx context.Context) error {
	p.mu.Lock()
	if p.compiles == nil {
		p.compiles = make(chan struct{})
		go func() {
			defer close(p.compiles)
			p.err = p.compile(context.WithoutCancel(ctx))
		}()
	}
	done := p.compiles
	p.mu.Unlock()
	select {
	case <-done:
		return p.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *Python) compile(ctx context.Context) error {
	body, err := os.ReadFile(p.module)
	if err != nil {
		return fmt.Errorf("read the Python WebAssembly module: %w", err)
	}
	if p.stored, err = wazero.NewCompilationCacheWithDir(p.cache); err != nil {
		return fmt.Errorf("open the cache of compiled modules: %w", err)
	}
	// Without debug information, ending a program is fast. With it, wazero would take seconds to find the position.
	p.runtime = wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(p.stored).
		WithCloseOnContextDone(true).WithDebugInfoEnabled(false).WithMemoryLimitPages(uint32(p.limits.Memory/pageBytes)))
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, p.runtime); err != nil {
		return fmt.Errorf("offer WASI: %w", err)
	}
	if p.compiled, err = p.runtime.CompileModule(ctx, body); err != nil {
		return fmt.Errorf("compile %s: %w", p.module, err)
	}
	return nil
}

// Run runs one program in a new instance until it ends or exceeds a limit; both are an Outcome. The error is
// context.Cause(ctx) if ctx has ended, otherwise a failure of the sandbox.
func (p *Python) Run(ctx context.Context, program string) (Outcome, error) {
	if err := p.load(ctx); err != nil {
		return Outcome{}, err
	}
	start := time.Now()
	runCtx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	timed, cancel := context.WithTimeoutCause(runCtx, p.limits.Time, EndedTime)
	defer cancel()
	full, mark := func() { stop(EndedOutput) }, rand.Text()
	stdout := &capped{limit: p.limits.Output, full: full}
	stderr := &capped{limit: p.limits.Output + maxFigures*(maxFigureBytes+pageBytes), full: full} // with the drawings
	config := wazero.NewModuleConfig().WithName("").
		WithArgs("python", "-B", "-s", "-c", bootSource, chartSource, mark).
		WithStdin(strings.NewReader(program)).
		WithStdout(stdout).WithStderr(stderr).
		WithSysWalltime().WithSysNanotime().WithRandSource(rand.Reader).
		WithNanosleep(func(ns int64) { // wazero's own sleep ignores the end of the context
			select {
			case <-timed.Done():
			case <-time.After(time.Duration(ns)):
			}
		})
	for _, e := range environment {
		config = config.WithEnv(e[0], e[1])
	}
	module, err := p.runtime.InstantiateModule(withMemory(timed), p.compiled, config)
	if module != nil {
		err = errors.Join(err, module.Close(context.WithoutCancel(ctx)))
	}
	said, drawn, _ := strings.Cut(stderr.String(), mark)
	out := Outcome{Stdout: stdout.String(), Stderr: said[:min(len(said), p.limits.Output)], Files: drawings(drawn),
		Took: time.Since(start)}
	if ctx.Err() != nil {
		return Outcome{}, context.Cause(ctx)
	}
	if errors.As(context.Cause(timed), &out.Ended) {
		out.Exit = -1
		return out, nil
	}
	var exit *sys.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		out.Exit = int(exit.ExitCode())
	default: // a trap: the interpreter crashed, for example by stack overflow
		out.Exit = -1
		out.Stderr += "\nthe Python interpreter crashed\n"
	}
	if out.Exit != 0 && outOfMemory(out.Stderr) {
		out.Ended = EndedMemory
	}
	return out, nil
}

// Close releases the compiled module. No program may be running.
func (p *Python) Close(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.compiles == nil {
		return nil
	}
	<-p.compiles
	var errs []error
	if p.runtime != nil {
		errs = append(errs, p.runtime.Close(ctx))
	}
	if p.stored != nil {
		errs = append(errs, p.stored.Close(ctx))
	}
	return errors.Join(errs...)
}
