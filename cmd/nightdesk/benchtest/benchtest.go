// Package benchtest measures the program for tests. It runs the program as a user would, in a separate directory, with a
// model of fixed latency and a small web on this machine. Measure repeats a scenario and takes the median of each
// figure. Report compares results.
//
// The figures depend on the program, its Redis and the machine; the quality of answers is not measured. Other tests also
// use Model and its pages.
package benchtest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Figure is one measured quantity.
type Figure struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit,omitempty"`
	Value float64 `json:"value"`
	Least float64 `json:"least"` // of all repetitions
	Most  float64 `json:"most"`
	More  bool    `json:"more_is_better,omitempty"`
}

func (f Figure) more() Figure {
	f.More = true
	return f
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func seconds(name string, d time.Duration) Figure {
	return Figure{Name: name, Unit: "s", Value: d.Seconds()}
}

func megabytes(name string, n int64) Figure {
	return Figure{Name: name, Unit: "MB", Value: float64(n) / (1 << 20)}
}

func percent(name string, part, whole int) Figure {
	return Figure{Name: name, Unit: "%", Value: 100 * float64(part) / float64(max(whole, 1))}
}

func times(name string, took, ideal time.Duration) Figure {
	return Figure{Name: name, Value: took.Seconds() / max(ideal, time.Nanosecond).Seconds()}
}

// Result holds the figures of a scenario.
type Result struct {
	Scenario string   `json:"scenario"`
	Settings Settings `json:"settings"`
	Times    int      `json:"times"` // number of repetitions
	Load     float64  `json:"load"`  // load of the machine in the minute before; -1: unknown
	Figures  []Figure `json:"figures"`
}

// Report holds results and describes the machine and version.
type Report struct {
	Version    string   `json:"version"`
	System     string   `json:"system"`
	Processors int      `json:"processors"`
	Processor  string   `json:"processor,omitempty"`
	Results    []Result `json:"results"`
}

// NewReport returns a report without results.
func NewReport(version string) Report {
	return Report{Version: version, System: runtime.GOOS + "/" + runtime.GOARCH, Processors: runtime.NumCPU(),
		Processor: processorName()}
}

func processorName() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // Linux only
	_, name, _ := strings.Cut(string(text), "model name\t: ")
	name, _, _ = strings.Cut(name, "\n")
	return name
}

func load() float64 {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	if n, err := strconv.ParseFloat(first, 64); err == nil {
		return n
	}
	return -1
}

// Measure measures a scenario the given number of times. set overrides settings of the scenario.
func (s Scenario) Measure(ctx context.Context, set Settings, times int) (Result, error) {
	r := Result{Scenario: s.Name, Settings: s.with(set), Times: times, Load: load()}
	var all [][]Figure
	for range times {
		figures, err := s.measure(ctx, r.Settings)
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return r, fmt.Errorf("measure %s: %w", s.Name, err)
		}
		all = append(all, figures)
	}
	for i, f := range all[0] {
		values := make([]float64, times)
		for k := range all {
			values[k] = all[k][i].Value
		}
		slices.Sort(values)
		f.Least, f.Most = values[0], values[times-1]
		f.Value = (values[(times-1)/2] + values[times/2]) / 2
		r.Figures = append(r.Figures, f)
	}
	return r, nil
}

// with returns the scenario's settings, with those values of set that apply to the scenario.
func (s Scenario) with(set Settings) Settings {
	out := s.settings
	out.Program = set.Program
	if out.Preset != "" {
		out.Preset = cmp.Or(set.Preset, out.Preset)
		out.KB, out.Latency = set.KB, cmp.Or(set.Latency, out.Latency)
	}
	for _, n := range []struct{ to, from *int }{{&out.Topics, &set.Topics}, {&out.Cap, &set.Cap},
		{&out.Workers, &set.Workers}, {&out.Slots, &set.Slots}, {&out.Kills, &set.Kills}, {&out.Pages, &set.Pages}} {
		if *n.to > 0 {
			*n.to = cmp.Or(*n.from, *n.to)
		}
	}
	if out.Window > 0 {
		out.Window = cmp.Or(set.Window, out.Window)
	}
	return out
}

// String describes the settings of a scenario.
func (s Settings) String() string {
	var parts []string
	add := func(set bool, format string, v any) {
		if set {
			parts = append(parts, fmt.Sprintf(format, v))
		}
	}
	add(s.Preset != "", "preset %s", s.Preset)
	add(s.Topics > 0, "%d topics", s.Topics)
	add(s.Pages > 0, "%d pages", s.Pages)
	add(s.Latency > 0, "model latency %s", s.Latency)
	add(s.Cap > 0, "cap %d", s.Cap)
	add(s.Workers > 0, "workers %d", s.Workers)
	add(s.Slots > 0, "slots %d", s.Slots)
	add(s.Kills > 0, "%d kills", s.Kills)
	add(s.Window > 0, "%s", s.Window)
	if s.Preset != "" {
		parts = append(parts, map[bool]string{false: "on the web", true: "in a knowledge base"}[s.KB])
	}
	return strings.Join(parts, ", ")
}

// Read reads a report that was printed as JSON.
func Read(file string) (r Report, err error) {
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		err = fmt.Errorf("read an earlier report from %s: %w", file, err)
	}
	return r, err
}

// Machine describes where a report was measured.
func (r Report) Machine() string {
	return fmt.Sprintf("nightdesk %s, %d processors %s", r.Version, r.Processors, cmp.Or(r.Processor, r.System))
}

// Lines formats a result as a table for a terminal. earlier is the report to compare with, or nil.
func (r Result) Lines(earlier *Report) (lines []string) {
	lines = append(lines, fmt.Sprintf("%s: %s; median of %d; load %.1f", r.Scenario, r.Settings, r.Times, r.Load))
	for _, f := range r.Figures {
		line := fmt.Sprintf("  %-40s %10s %-11s", f.Name, number(f.Value), f.Unit)
		if r.Times > 1 {
			line += fmt.Sprintf(" %10s to %-10s", number(f.Least), number(f.Most))
		}
		lines = append(lines, strings.TrimRight(line+r.against(f, earlier), " "))
	}
	return lines
}

// against compares a figure with the same figure in an earlier report.
func (r Result) against(f Figure, earlier *Report) string {
	if earlier == nil {
		return ""
	}
	for _, e := range earlier.Results {
		e.Settings.Program = r.Settings.Program // compare versions, wherever they were built
		if e.Scenario != r.Scenario || e.Settings != r.Settings {
			continue
		}
		for _, old := range e.Figures {
			if old.Name == f.Name && old.Unit == f.Unit {
				return fmt.Sprintf("  before %s (%s)", number(old.Value), change(old.Value, f.Value, f.More))
			}
		}
	}
	return "  not in the earlier report"
}

func change(before, after float64, more bool) string {
	if before == 0 || math.Abs(after/before-1) < 0.005 {
		return map[bool]string{true: "as before", false: "new"}[before != 0 || after == 0]
	}
	word := "worse"
	if (after > before) == more {
		word = "better"
	}
	return fmt.Sprintf("%+.0f %%, %s", 100*(after/before-1), word)
}

// number formats a value with about three significant digits.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100 || v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
