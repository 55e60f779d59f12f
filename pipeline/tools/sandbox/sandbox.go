// Package sandbox runs Python programs written by a model, without the rights of this process. They have no network, no
// processes, no files except their own scratch directory, and limits on time, memory, output and files.
//
// Python is CPython as a WebAssembly module: one file, python.wasm, which works on every system without installation
// and without rights. Namespaces (bubblewrap) need Linux, an installed Python and a machine that allows them, which
// containers do not. What they had in favour was measured on the same machine:
//
//   - Start of a program: 0.16 s instead of 0.1 s. The module is compiled once per data directory, in 3 s.
//   - Computation: loops take about 15 times as long. Programs compute with the figures of a few sources, so this
//     rarely counts.
//   - Packages: none beside the standard library, instead of those of the system. NumPy and Matplotlib are missing;
//     module chart, which every program can import, draws lines and bars.
//
// The output of a program is as untrusted as the program. Figures accepts only drawings, without scripts and
// references.
//
// Entry point: [New].
package sandbox

import (
	_ "embed"
	"errors"
	"time"
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
	Exit           int    // exit status; -1 if a limit ended the program from outside, or Python crashed
	Ended          Ended
	Files          []File // *.svg at the top of the scratch directory, by name; unchecked
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

// scratchDir is the working directory of a program, the only place where it can write.
const scratchDir = "/scratch"

// environment is the whole environment of a program. PYTHONHASHSEED gives sets of strings the same order in every run.
var environment = [][2]string{
	{"HOME", scratchDir}, {"LANG", "C.UTF-8"}, {"PYTHONHASHSEED", "0"}, {"PYTHONUTF8", "1"},
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
