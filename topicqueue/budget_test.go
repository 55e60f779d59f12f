package topicqueue_test

import (
	"math"
	"testing"
	"time"

	"nightdesk/topicqueue"
)

func TestParseBudget(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]topicqueue.Budget{
		"":              {},
		"2.50":          {USD: 2.5},
		"$0.000001":     {USD: 0.000001},
		" 20 ":          {USD: 20},
		"2M tokens":     {Tokens: 2_000_000},
		"500k tokens":   {Tokens: 500_000},
		"1500 tokens":   {Tokens: 1500},
		"1 token":       {Tokens: 1},
		"0.5m tokens":   {Tokens: 500_000},
		"12345678token": {Tokens: 12345678},
	} {
		got, err := topicqueue.ParseBudget(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
		if again, err := topicqueue.ParseBudget(got.String()); err != nil || again != got {
			t.Errorf("%q is shown as %q, which is %+v (%v)", text, got, again, err)
		}
	}
	for _, text := range []string{"two", "-1", "0", "NaN", "Inf", "1e300", "2M", "0 tokens", "-5 tokens", "NaN tokens", "tokens", "$", "0.0000001"} {
		if got, err := topicqueue.ParseBudget(text); err == nil {
			t.Errorf("%q is %+v, want an error", text, got)
		}
	}
}

func FuzzParseBudget(f *testing.F) {
	for _, text := range []string{"", "2.50", "$3", "2M tokens", "0.1k token", "1e3", "0x1p3 tokens"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := topicqueue.ParseBudget(text)
		if err != nil {
			return
		}
		if again, err := topicqueue.ParseBudget(b.String()); err != nil || again != b || b.Amount() < 0 {
			t.Errorf("%q is %+v, shown as %q, which is %+v (%v)", text, b, b, again, err)
		}
	})
}

func TestCost(t *testing.T) {
	t.Parallel()
	third := 1e-6 / 3
	u := topicqueue.Usage{PromptTokens: 10, CompletionTokens: 5}
	if n, ok := (topicqueue.Budget{Tokens: 1}).Cost(u); n != 15 || !ok {
		t.Errorf("in tokens: %d, %v", n, ok)
	}
	if n, ok := (topicqueue.Budget{USD: 1}).Cost(u); ok {
		t.Errorf("without a price: %d", n)
	}
	if u.CostUSD = &third; true {
		if n, ok := (topicqueue.Budget{USD: 1}).Cost(u); n != int64(math.Ceil(third*1e9)) || !ok {
			t.Errorf("in money: %d, %v", n, ok)
		}
	}
	if !(topicqueue.Budget{}).SameUnit(topicqueue.Budget{USD: 1}) || (topicqueue.Budget{Tokens: 1}).SameUnit(topicqueue.Budget{USD: 1}) {
		t.Error("units")
	}
}

func TestMayIterate(t *testing.T) {
	t.Parallel()
	e := topicqueue.Estimate{Iteration: 100, Report: 200}
	waiting, begun := topicqueue.BlockPurse{}, topicqueue.BlockPurse{Begun: true}
	once := topicqueue.BlockPurse{Begun: true, Iterations: 1, Spent: 100}
	for _, tc := range []struct {
		name  string
		purse topicqueue.Purse
		n, k  int
		want  bool
	}{
		{"no budget", topicqueue.Purse{Blocks: []topicqueue.BlockPurse{begun}}, 1, 1, true},
		{"enough for one", topicqueue.Purse{Limit: 300, Blocks: []topicqueue.BlockPurse{begun, waiting}}, 1, 1, true},
		{"the report comes first", topicqueue.Purse{Limit: 299, Blocks: []topicqueue.BlockPurse{begun, waiting}}, 1, 1, false},
		{"what is under way comes first", topicqueue.Purse{Limit: 399, Blocks: []topicqueue.BlockPurse{begun, begun}}, 2, 1, false},
		{"half of it is spent", topicqueue.Purse{Limit: 400, Spent: 50, Blocks: []topicqueue.BlockPurse{{Begun: true, Spent: 50}, begun}}, 2, 1, true},
		{"a second one after all first ones", topicqueue.Purse{Limit: 514, Spent: 100, Blocks: []topicqueue.BlockPurse{once, waiting}}, 1, 2, false},
		{"room for both", topicqueue.Purse{Limit: 530, Spent: 100, Blocks: []topicqueue.BlockPurse{once, waiting}}, 1, 2, true},
		{"those that have ended take nothing", topicqueue.Purse{Limit: 515, Spent: 200, Blocks: []topicqueue.BlockPurse{once, {Begun: true, Ended: true, Iterations: 1, Spent: 100}}}, 1, 2, true},
		{"what was begun goes on", topicqueue.Purse{Limit: 1, Spent: 500, Blocks: []topicqueue.BlockPurse{{Begun: true, Iterations: 1, Spent: 150, UnderWay: true}}}, 1, 2, true},
	} {
		if got := tc.purse.MayIterate(tc.n, tc.k, e); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
	if n := (topicqueue.Purse{}).Room(3, e); n >= 0 {
		t.Errorf("without a budget there is room for %d", n)
	}
	full := topicqueue.Purse{Limit: 1000, Spent: 200, Blocks: []topicqueue.BlockPurse{{Begun: true, Ended: true, Iterations: 2, Spent: 200}}}
	if n := full.Room(2, e); n != 2 { // 600 are left, an iteration costs 115
		t.Errorf("room for %d blocks, want 2", n)
	}
}

func TestPace(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name           string
		pace           topicqueue.Pace
		depth, breadth int // of 5 blocks, 4 iterations each
	}{
		{"no deadline", topicqueue.Pace{Left: -1, Iteration: time.Minute, Slots: 1, Runs: 100}, 4, 5},
		{"nothing known", topicqueue.Pace{Left: time.Minute, Slots: 20, Runs: 100}, 4, 5},
		{"time enough", topicqueue.Pace{Left: 8 * time.Hour, Iteration: time.Minute, Slots: 20, Runs: 100}, 4, 5},
		{"half of it", topicqueue.Pace{Left: time.Hour, Iteration: time.Minute, Slots: 20, Runs: 100}, 2, 5},
		{"for three blocks", topicqueue.Pace{Left: 25 * time.Minute, Iteration: time.Minute, Slots: 20, Runs: 100}, 1, 3},
		{"none", topicqueue.Pace{Left: 0, Iteration: time.Minute, Slots: 20, Runs: 100}, 1, 1},
	} {
		if d, b := tc.pace.Depth(5, 4), tc.pace.Breadth(5); d != tc.depth || b != tc.breadth {
			t.Errorf("%s: depth %d, breadth %d, want %d and %d", tc.name, d, b, tc.depth, tc.breadth)
		}
	}
}
