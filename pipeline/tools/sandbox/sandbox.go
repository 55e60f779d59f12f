// Package sandbox runs Python programs written by a model, without the rights of this process. They have no network, no
// processes, no files except their own scratch directory, and limits on time, memory, output and files.
//
// There are two sandboxes. NewWASM uses CPython as a WebAssembly module, which needs one file and works everywhere.
// NewBubblewrap uses the system's Python behind namespaces and a system call filter, on Linux, after a probe has proved
// that it isolates programs. If neither works, no program runs.
//
// The output of a program is as untrusted as the program. Figures accepts only pictures, and SVG only without scripts
// and outside references.
package sandbox

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"time"
)

// Sandbox runs programs, several in parallel. Safe for concurrent use.
type Sandbox interface {
	// Name returns the name of the sandbox, one of the Name... constants.
	Name() string
	// Run runs one Python program until it ends or exceeds a limit; both are an Outcome. The error is
	// context.Cause(ctx) if ctx has ended, otherwise a failure of the sandbox.
	Run(ctx context.Context, program string) (Outcome, error)
	// Close releases the sandbox's resources. No program may be running.
	Close(ctx context.Context) error
}

// Packaged is a Sandbox with Python packages in addition to the standard library.
type Packaged interface {
	Packages() []string // names, such as NumPy and Matplotlib
}

// Names of the sandboxes.
const (
	NameWASM       = "WebAssembly"
	NameBubblewrap = "bubblewrap"
)

// Limits are the limits of one program. All must be set.
type Limits struct {
	Time   time.Duration // wall-clock time since the start
	Memory int           // bytes of address space
	Output int           // bytes of stdout, and of stderr each
	Files  int           // maximum number of files and directories in the scratch directory at a time
	Disk   int           // bytes in the scratch directory, which is in memory
}

// DefaultLimits returns the default limits with this time limit.
func DefaultLimits(time time.Duration) Limits {
	return Limits{Time: time, Memory: 256 << 20, Output: 128 << 10, Files: 200, Disk: 16 << 20}
}

// Ended names the limit that ended a program.
type Ended string

// The limits that end a program.
const (
	EndedItself Ended = "" // the program ended by itself
	EndedTime   Ended = "time"
	EndedMemory Ended = "memory"
	EndedOutput Ended = "output"
	EndedFiles  Ended = "files"
)

// Outcome is the result of a program.
type Outcome struct {
	Stdout, Stderr string // raw output, at most Limits.Output bytes each
	Exit           int    // exit status; 128 + n after signal n; -1 if a limit ended the program from outside
	Ended          Ended
	Files          []File // *.svg and *.png at the top of the scratch directory, by name; unchecked
	Took           time.Duration
}

// File is a file written by a program.
type File struct {
	Name string
	Body []byte
}

// Limits for files taken from the scratch directory.
const (
	maxFigures     = 8
	maxFigureBytes = 2 << 20
)

// MaxProgram is the maximum size of a program, in bytes.
const MaxProgram = 32 << 10

var (
	//go:embed python/boot.py
	bootSource string
	//go:embed python/chart.py
	chartSource string
)

// given is the input that boot.py reads from standard input.
type given struct {
	Program string         `json:"program"`
	Chart   string         `json:"chart"`             // the helper module
	Work    string         `json:"work"`              // the scratch directory
	Rlimits map[string]int `json:"rlimits,omitempty"` // by name in Python's module resource
	Export  *export        `json:"export,omitempty"`
}

// export makes boot.py write the figures to a file descriptor.
type export struct {
	FD       int `json:"fd"`
	MaxFiles int `json:"max_files"`
	MaxBytes int `json:"max_bytes"`
}

func (g given) encode() []byte {
	body, err := json.Marshal(g) // strings and numbers: cannot fail
	if err != nil {
		panic(err)
	}
	return body
}

// scratchDir is the working directory of a program, the only place where it can write.
const scratchDir = "/scratch"

// environment is the whole environment of a program. PYTHONHASHSEED gives sets of strings the same order in every run.
var environment = [][2]string{
	{"HOME", scratchDir}, {"LANG", "C.UTF-8"}, {"PYTHONHASHSEED", "0"}, {"PYTHONDONTWRITEBYTECODE", "1"},
	{"PYTHONUTF8", "1"},
	{"PYTHONNOUSERSITE", "1"}, {"OPENBLAS_NUM_THREADS", "1"}, {"OMP_NUM_THREADS", "1"}, {"MPLBACKEND", "Agg"},
	{"MPLCONFIGDIR", scratchDir + "/.matplotlib"},
}

// Cancellation causes that end a program from outside.
var (
	errTime   = errors.New("time limit")
	errOutput = errors.New("output limit")
	errFiles  = errors.New("limit of the scratch directory")
)

// ended maps the cancellation cause of a program's context to a limit. It returns false for any other cause.
func ended(cause error) (Ended, bool) {
	switch {
	case errors.Is(cause, errTime):
		return EndedTime, true
	case errors.Is(cause, errOutput):
		return EndedOutput, true
	case errors.Is(cause, errFiles):
		return EndedFiles, true
	}
	return EndedItself, false
}
