// Package sandbox runs Python programs that a model has written, and never with the rights of this process: no
// network, no processes, no files but a scratch directory of their own, and limits on time, memory, output and files.
//
// There are two: NewWASM, CPython as a WebAssembly module, which needs one file and works everywhere; and
// NewBubblewrap, the system's Python behind namespaces and a system call filter, on Linux, after a probe that has
// proved that it isolates. There is no third: where neither works, no program runs.
//
// What a program leaves is as hostile as the program. Figures admits only pictures, and SVG only without scripts and
// outside references.
package sandbox

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"time"
)

// Sandbox runs programs, several at a time. Safe for concurrent use.
type Sandbox interface {
	// Name says which sandbox this is: one of the Name... constants.
	Name() string
	// Run runs one Python program to its end or to the first limit that it meets: both are an Outcome. The error is
	// context.Cause(ctx) when ctx has ended, else a sandbox that does not work.
	Run(ctx context.Context, program string) (Outcome, error)
	// Close frees what the sandbox holds. No program may be running.
	Close(ctx context.Context) error
}

// Packaged is a Sandbox that has Python packages beside the standard library.
type Packaged interface {
	Packages() []string // their names: NumPy, Matplotlib
}

// Names of the sandboxes.
const (
	NameWASM       = "WebAssembly"
	NameBubblewrap = "bubblewrap"
)

// Limits bound one program. Every limit must be set.
type Limits struct {
	Time   time.Duration // from its start, waiting included
	Memory int           // bytes of address space
	Output int           // bytes of stdout, and of stderr
	Files  int           // files and directories in the scratch directory at once
	Disk   int           // bytes in the scratch directory, which is in memory
}

// DefaultLimits returns the limits of a program that takes at most this time.
func DefaultLimits(time time.Duration) Limits {
	return Limits{Time: time, Memory: 256 << 20, Output: 128 << 10, Files: 200, Disk: 16 << 20}
}

// Ended says which limit has ended a program.
type Ended string

// The limits that end a program.
const (
	EndedItself Ended = "" // the program has ended by itself
	EndedTime   Ended = "time"
	EndedMemory Ended = "memory"
	EndedOutput Ended = "output"
	EndedFiles  Ended = "files"
)

// Outcome is what became of a program.
type Outcome struct {
	Stdout, Stderr string // bytes as the program wrote them, at most Limits.Output of each
	Exit           int    // exit status; 128 + n after signal n; -1 when a limit ended the program from outside
	Ended          Ended
	Files          []File // *.svg and *.png at the top of the scratch directory, by name; not checked
	Took           time.Duration
}

// File is a file that a program has left.
type File struct {
	Name string
	Body []byte
}

// What is taken from the scratch directory.
const (
	maxFigures     = 8
	maxFigureBytes = 2 << 20
)

// MaxProgram bounds a program, in bytes.
const MaxProgram = 32 << 10

var (
	//go:embed python/boot.py
	bootSource string
	//go:embed python/chart.py
	chartSource string
)

// given is what boot.py reads from standard input.
type given struct {
	Program string         `json:"program"`
	Chart   string         `json:"chart"`             // the helper module
	Work    string         `json:"work"`              // the scratch directory
	Rlimits map[string]int `json:"rlimits,omitempty"` // by the name in Python's module resource
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

// scratchDir is where a program works: all that it can write to.
const scratchDir = "/scratch"

// environment is all that a program sees of one. Sets of strings have the same order in every run.
var environment = [][2]string{
	{"HOME", scratchDir}, {"LANG", "C.UTF-8"}, {"PYTHONHASHSEED", "0"}, {"PYTHONDONTWRITEBYTECODE", "1"},
	{"PYTHONUTF8", "1"},
	{"PYTHONNOUSERSITE", "1"}, {"OPENBLAS_NUM_THREADS", "1"}, {"OMP_NUM_THREADS", "1"}, {"MPLBACKEND", "Agg"},
	{"MPLCONFIGDIR", scratchDir + "/.matplotlib"},
}

// Causes that end a program from outside.
var (
	errTime   = errors.New("time limit")
	errOutput = errors.New("output limit")
	errFiles  = errors.New("limit of the scratch directory")
)

// ended translates the cause that a program's own context ended with.
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
