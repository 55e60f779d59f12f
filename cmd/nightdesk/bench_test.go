package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/cmd/nightdesk/bench"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestBench measures every scenario once, as small as it gets: each has its figures, which an earlier call can be
// compared with. How large they are is no question here.
func TestBench(t *testing.T) {
	t.Parallel()
	redistest.Socket(t) // skips where there is no redis-server
	f := &fleet{t: t, dir: t.TempDir()}
	f.program = link(t, f.dir)
	f.env = append(os.Environ(), shortLease, "NIGHTDESK_PRESET=deep")
	small := []string{"bench", "--times", "1", "--preset", "quick", "--latency", "1ms", "--topics", "4", "--cap", "3",
		"--kills", "1", "--workers", "2", "--pages", "5", "--window", "20ms", "--json"}
	first := f.output(small...)
	var report bench.Report
	if err := json.Unmarshal([]byte(first), &report); err != nil {
		t.Fatal(err)
	}
	figures, want := map[string]map[string]float64{}, []string{}
	for _, r := range report.Results {
		figures[r.Scenario] = map[string]float64{}
		for _, one := range r.Figures {
			figures[r.Scenario][one.Name] = one.Value
			if one.Value < 0 || one.Least > one.Value || one.Most < one.Value {
				t.Errorf("%s: %+v", r.Scenario, one)
			}
		}
	}
	for _, s := range bench.Scenarios() {
		want = append(want, s.Name)
		if len(figures[s.Name]) < 4 {
			t.Errorf("%s has the figures %v", s.Name, figures[s.Name])
		}
	}
	var got []string
	for _, r := range report.Results {
		got = append(got, r.Scenario)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scenarios (-want +got):\n%s", diff)
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
	if err := writeFile(filepath.Join(f.dir, "before.json"), first); err != nil {
		t.Fatal(err)
	}
	out := f.output("bench", "verify", "--times", "2", "--preset", "quick", "--latency", "1ms",
		"--baseline", "before.json")
	if !strings.Contains(out, "wall time") || !strings.Contains(out, "before ") {
		t.Errorf("compared:\n%s", out)
	}
	t.Logf("%s", first)
}
