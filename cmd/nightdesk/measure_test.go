package main_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nightdesk/cmd/nightdesk/benchtest"
	"nightdesk/topicqueue/redisqueue/redistest"
)

var (
	measured = flag.String("measure.scenarios", "", "scenarios of TestMeasure, with commas; without: all, as small as "+
		"they get; with all: all, in the sizes of the manual")
	measureTimes    = flag.Int("measure.times", 3, "measurements of each scenario; the median counts")
	measureBaseline = flag.String("measure.baseline", "", "what -measure.out wrote before, to compare with")
	measureOut      = flag.String("measure.out", "", "file for the figures, as JSON")
	measureSettings = func() *benchtest.Settings {
		s := &benchtest.Settings{}
		flag.StringVar(&s.Preset, "measure.preset", "", "preset of the topics")
		flag.DurationVar(&s.Latency, "measure.latency", 0, "latency of the model")
		flag.IntVar(&s.Topics, "measure.topics", 0, "number of topics")
		flag.IntVar(&s.Cap, "measure.cap", 0, "calls that the model takes at a time; it rejects more with 429")
		flag.IntVar(&s.Workers, "measure.workers", 0, "worker processes")
		flag.IntVar(&s.Slots, "measure.concurrency", 0, "tasks that a worker runs in parallel")
		flag.IntVar(&s.Kills, "measure.kills", 0, "workers that are killed")
		flag.IntVar(&s.Pages, "measure.pages", 0, "pages of the knowledge base")
		flag.DurationVar(&s.Window, "measure.window", 0, "how long an idle worker is measured")
		flag.BoolVar(&s.KB, "measure.kb", false, "research a knowledge base instead of the web")
		return s
	}()
)

// TestMeasure measures the program. Without flags it checks that every scenario yields its figures, in the smallest
// size; how large they are depends on the machine.
func TestMeasure(t *testing.T) {
	redistest.Socket(t) // skips where there is no redis-server
	settings, times, names := *measureSettings, *measureTimes, strings.Split(*measured, ",")
	if *measured == "" {
		t.Parallel()
		names, times = []string{"all"}, 1
		settings = benchtest.Settings{Preset: "quick", Latency: time.Millisecond, Topics: 4, Cap: 3, Kills: 1, Workers: 2,
			Pages: 5, Window: 20 * time.Millisecond}
	}
	settings.Program = link(t, t.TempDir())
	var earlier *benchtest.Report
	if *measureBaseline != "" {
		r, err := benchtest.Read(*measureBaseline)
		if err != nil {
			t.Fatal(err)
		}
		earlier = &r
	}
	report := benchtest.NewReport("head")
	t.Log(report.Machine())
	for _, s := range benchtest.Scenarios() {
		if names[0] != "all" && !slices.Contains(names, s.Name) {
			continue
		}
		r, err := s.Measure(t.Context(), settings, times)
		if err != nil {
			t.Fatal(err)
		}
		t.Log("\n" + strings.Join(r.Lines(earlier), "\n"))
		report.Results = append(report.Results, r)
	}
	if *measured == "" {
		checkFigures(t, report)
	}
	if *measureOut != "" {
		body, err := json.Marshal(report)
		if err == nil {
			err = os.WriteFile(*measureOut, body, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// checkFigures checks that each scenario has figures that can be compared with an earlier measurement.
func checkFigures(t *testing.T, report benchtest.Report) {
	t.Helper()
	figures := map[string]map[string]float64{}
	for _, r := range report.Results {
		figures[r.Scenario] = map[string]float64{}
		for _, one := range r.Figures {
			figures[r.Scenario][one.Name] = one.Value
			if one.Value < 0 || one.Least > one.Value || one.Most < one.Value {
				t.Errorf("%s: %+v", r.Scenario, one)
			}
		}
	}
	for _, s := range benchtest.Scenarios() {
		if len(figures[s.Name]) < 4 {
			t.Errorf("%s has the figures %v", s.Name, figures[s.Name])
		}
	}
	one := figures["single"]
	if n := one["model calls"]; n < 5 || one["calls one after the other"] > n || one["calls one after the other"] < 4 {
		t.Errorf("single: %v", one)
	}
	if batch := figures["batch"]; batch["completed"] != 100 || batch["model calls"] < 4*5 {
		t.Errorf("batch: %v", batch)
	}
	if figures["storm"]["completed"] != 100 {
		t.Errorf("storm: %v", figures["storm"])
	}
	file := filepath.Join(t.TempDir(), "before.json")
	body, err := json.Marshal(report)
	if err == nil {
		err = os.WriteFile(file, body, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	earlier, err := benchtest.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Join(report.Results[0].Lines(&earlier), "\n"); !strings.Contains(lines, "as before") {
		t.Errorf("compared with itself:\n%s", lines)
	}
}
