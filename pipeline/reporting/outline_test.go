package reporting_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/reporting"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

var outlineBlocks = []prompts.BlockLine{
	{ID: "block_1", Title: "Write-ahead log"}, {ID: "block_2", Title: "Standby servers"}, {ID: "block_3", Title: "Synchronous standby servers"},
}

func TestRepairOutline(t *testing.T) {
	t.Parallel()
	section := func(title string, ids ...string) prompts.OutlineSection {
		return prompts.OutlineSection{Title: title, BlockIDs: ids, Subsections: []prompts.OutlineSubsection{}}
	}
	for name, tt := range map[string]struct{ in, want []prompts.OutlineSection }{
		"empty":          {nil, []prompts.OutlineSection{section("Write-ahead log", "block_1"), section("Standby servers", "block_2", "block_3")}},
		"whole":          {[]prompts.OutlineSection{section("A", "block_3", "block_1"), section("B", "block_2")}, []prompts.OutlineSection{section("A", "block_3", "block_1"), section("B", "block_2")}},
		"twice":          {[]prompts.OutlineSection{section("A", "block_1", "block_1", "block_2"), section("B", "block_2", "block_3")}, []prompts.OutlineSection{section("A", "block_1", "block_2"), section("B", "block_3")}},
		"unknown":        {[]prompts.OutlineSection{section("A", "block_9", "x"), section("B", "block_1", "block_2", " block_3 ")}, []prompts.OutlineSection{section("B", "block_1", "block_2", "block_3")}},
		"forgotten":      {[]prompts.OutlineSection{section("The log", "block_1"), section("Standby servers", "block_2")}, []prompts.OutlineSection{section("The log", "block_1"), section("Standby servers", "block_2", "block_3")}},
		"no title":       {[]prompts.OutlineSection{section("1. ", "block_1", "block_2", "block_3")}, []prompts.OutlineSection{section("Write-ahead log", "block_1", "block_2", "block_3")}},
		"frame titles":   {[]prompts.OutlineSection{section("5. Conclusion", "block_1", "block_2", "block_3")}, []prompts.OutlineSection{section("Write-ahead log", "block_1", "block_2", "block_3")}},
		"same titles":    {[]prompts.OutlineSection{section("1. A", "block_1"), section("a:", "block_2", "block_3")}, []prompts.OutlineSection{section("A", "block_1", "block_2", "block_3")}},
		"only the frame": {[]prompts.OutlineSection{section("Introduction"), section("Conclusion"), section("A", "block_1", "block_2", "block_3")}, []prompts.OutlineSection{section("A", "block_1", "block_2", "block_3")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := reporting.RepairOutline(prompts.OutlineAnswer{Sections: tt.in}, "Topic", outlineBlocks)
			if diff := cmp.Diff(tt.want, got.Sections); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Title != "Topic" {
				t.Errorf("title %q", got.Title)
			}
		})
	}
}

func TestRepairOutlineSubsections(t *testing.T) {
	t.Parallel()
	got := reporting.RepairOutline(prompts.OutlineAnswer{Sections: []prompts.OutlineSection{{
		Title: "Logs", BlockIDs: []string{"block_1", "block_2", "block_3"},
		Subsections: []prompts.OutlineSubsection{{Title: "1.1 Why"}, {Title: "logs"}, {Title: "--"}, {Title: "WHY"}, {Title: "How", Instruction: " a\nb "}},
	}}}, "Topic", outlineBlocks)
	want := []prompts.OutlineSubsection{{Title: "Why"}, {Title: "How", Instruction: "a b"}}
	if diff := cmp.Diff(want, got.Sections[0].Subsections); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzRepairOutline: whatever a model answers, every block stands in exactly one section, every section has a title and
// a block, and repairing again changes nothing.
func FuzzRepairOutline(f *testing.F) {
	f.Add(outlineReply, 3)
	f.Add(`{"sections":[{"title":"","block_ids":["block_1","block_1","block_2"]},{"title":"A"}]}`, 5)
	f.Add(`{}`, 1)
	f.Fuzz(func(t *testing.T, answer string, n int) {
		var in prompts.OutlineAnswer
		if json.Unmarshal([]byte(answer), &in) != nil || n < 1 || n > 12 {
			return
		}
		var blocks []prompts.BlockLine
		for i := 1; i <= n; i++ {
			blocks = append(blocks, prompts.BlockLine{ID: topicqueue.BlockID(i), Title: outlineBlocks[i%3].Title})
		}
		got := reporting.RepairOutline(in, "Topic", blocks)
		placed := map[string]int{}
		for _, s := range got.Sections {
			if s.Title == "" || len(s.BlockIDs) == 0 || s.Subsections == nil {
				t.Fatalf("unusable section %+v", s)
			}
			for _, id := range s.BlockIDs {
				placed[id]++
			}
		}
		if len(placed) != n || got.Title == "" {
			t.Fatalf("%d of %d blocks placed, title %q", len(placed), n, got.Title)
		}
		for id, times := range placed {
			if times != 1 || topicqueue.BlockNumber(id) < 1 || topicqueue.BlockNumber(id) > n {
				t.Fatalf("%s placed %d times", id, times)
			}
		}
	})
}
