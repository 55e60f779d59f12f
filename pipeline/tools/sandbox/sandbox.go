// Package sandbox runs Python programs written by a model, without the rights of this process. They have no network, no
// processes, no file system, and limits on time, memory and output. A file that a program writes is in its own memory.
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
	"time"
)

// Limits are the limits of one program. All must be set.
type Limits struct {
	Time   time.Duration // wall-clock time since the start
	Memory int           // bytes of address space
	Output int           // bytes of stdout, and of stderr each
}

// DefaultLimits returns the default limits with this time limit.
func DefaultLimits(time time.Duration) Limits {
	return Limits{Time: time, Memory: 256 << 20, Output: 128 << 10}
}

// Ended names the limit that ended a program. It is the cancellation cause of a program that is ended from outside.
type Ended string

func (e Ended) Error() string { return "limit of " + string(e) }

// The limits that end a program.
const (
	EndedItself Ended = "" // the program ended by itself
	EndedTime   Ended = "time"
	EndedMemory Ended = "memory"
	EndedOutput Ended = "output"
)

// Outcome is the result of a program.
type Outcome struct {
	Stdout, Stderr string // raw output, at most Limits.Output bytes each
	Exit           int    // exit status; -1 if a limit ended the program from outside, or Python crashed
	Ended          Ended
	Files          []File // *.svg that it has written, by name; unchecked
	Took           time.Duration
}

// File is a file written by a program.
type File struct {
	Name string
	Body []byte
}

// Limits of drawings, as in boot.py.
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

// environment is the whole environment of a program. PYTHONHASHSEED gives sets of strings the same order in every run.
var environment = [][2]string{
	{"HOME", "/"}, {"LANG", "C.UTF-8"}, {"PYTHONHASHSEED", "0"}, {"PYTHONUTF8", "1"},
}
