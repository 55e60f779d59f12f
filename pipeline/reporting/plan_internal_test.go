package reporting

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/report"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// planner returns what plans three blocks with two claims each: claims 1 and 2 are of block_1, and so on.
func planner() *writer {
	w := &writer{Reporter: &Reporter{}, texts: prompts.TextsIn("en"), title: "Topic",
		registry: citation.NewRegistry(nil)}
	for i, title := range []string{"Write-ahead log", "Standby servers", "Synchronous standby servers"} {
		id := topicqueue.BlockID(i + 1)
		w.blocks = append(w.blocks, blockEvidence{id: id, title: title})
		for n := range 2 {
			c := topicqueue.Claim{
				ID: fmt.Sprintf("CIT-%d-01.%d", i+1, n+1), CitationID: fmt.Sprintf("CIT-%d-%02d", i+1, n+1), Text: fmt.Sprintf("Claim %d.", 2*i+n+1),
			}
			w.claims = append(w.claims, claim{Claim: c, Block: id})
		}
	}
	return w
}

// shape writes a plan in one line: sections with their subsections, each with the numbers of its claims.
func (ol *writer) shape(p reportPlan) string {
	var sections []string
	for _, s := range p.sections {
		line := s.Title
		for part := range len(s.Subsections) + 1 {
			ids := append(slices.Clone(s.ClaimIDs), s.Shared...)
			if part > 0 {
				line += " / " + s.Subsections[part-1].Title
				ids = s.Subsections[part-1].ClaimIDs
			}
			for i, c := range ol.claims {
				if slices.Contains(ids, c.ID) {
					line += fmt.Sprintf(" %d", i+1)
				}
			}
		}
		sections = append(sections, line)
	}
	return strings.Join(sections, "; ")
}

func planOf(t *testing.T, w *writer, answer prompts.OutlineAnswer) reportPlan {
	t.Helper()
	w.before = &Text{Outline: w.repaired(answer)} // an outline that is there already
	p, err := w.planned(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlan(t *testing.T) {
	t.Parallel()
	type section = prompts.OutlineSection
	sub := func(title string, claims ...int) prompts.OutlineSubsection {
		return prompts.OutlineSubsection{Title: title, Claims: claims}
	}
	for name, tt := range map[string]struct {
		in   []section
		want string
	}{
		"nothing usable":      {nil, "Write-ahead log 1 2; Standby servers 3 4; Synchronous standby servers 5 6"},
		"by blocks":           {[]section{{Title: "A", BlockIDs: []string{"block_3", "block_1"}}, {Title: "B", BlockIDs: []string{"block_2"}}}, "A 1 2 5 6; B 3 4"},
		"by number":           {[]section{{Title: "A", Claims: []int{1, 3, 5}}, {Title: "B", Claims: []int{2, 4, 6}}}, "A 1 3 5; B 2 4 6"},
		"number before block": {[]section{{Title: "A", BlockIDs: []string{"block_1", "block_2", "block_3"}}, {Title: "B", Claims: []int{4}}}, "A 1 2 3 5 6; B 4"},
		"one of another":      {[]section{{Title: "A", Claims: []int{1, 1, 2}}, {Title: "B", Claims: []int{2, 3, 4, 5, 6}}}, "A 1 2; B 2 3 4 5 6"},
		"subsections":         {[]section{{Title: "A", BlockIDs: []string{"block_1", "block_2", "block_3"}, Subsections: []prompts.OutlineSubsection{sub("X", 6, 1), sub("Y", 2)}}}, "A 3 4 5 / X 1 6 / Y 2"},
		"subsections without claims": {[]section{{Title: "A", BlockIDs: []string{"block_1", "block_2", "block_3"}, Subsections: []prompts.OutlineSubsection{sub("X"), sub("1.1 Y", 2), sub("y", 3)}}},
			"A 1 3 4 5 6 / Y 2"},
		"unknown":               {[]section{{Title: "A", BlockIDs: []string{"block_9"}, Claims: []int{0, 7, -1}}, {Title: "B", BlockIDs: []string{"block_1", "block_2", " block_3 "}}}, "B 1 2 3 4 5 6"},
		"a claim left out":      {[]section{{Title: "A", Claims: []int{1, 3, 5}}, {Title: "B", Claims: []int{2, 4}}}, "A 1 3 5 6; B 2 4"},
		"a block left out":      {[]section{{Title: "The log", BlockIDs: []string{"block_1"}}, {Title: "Standby", BlockIDs: []string{"block_2"}}}, "The log 1 2; Standby 3 4; Synchronous standby servers 5 6"},
		"no title":              {[]section{{Title: "1. ", BlockIDs: []string{"block_1", "block_2", "block_3"}}}, "Write-ahead log 1 2 3 4 5 6"},
		"title of the frame":    {[]section{{Title: "5. Conclusion", BlockIDs: []string{"block_2", "block_1", "block_3"}}}, "Standby servers 1 2 3 4 5 6"},
		"same titles":           {[]section{{Title: "1. A", BlockIDs: []string{"block_1"}}, {Title: "a:", BlockIDs: []string{"block_2", "block_3"}}}, "A 1 2 3 4 5 6"},
		"the frame as sections": {[]section{{Title: "Introduction"}, {Title: "A", BlockIDs: []string{"block_1", "block_2", "block_3"}}}, "A 1 2 3 4 5 6"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := planner()
			if got := w.shape(planOf(t, w, prompts.OutlineAnswer{Sections: tt.in})); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// What several blocks have found in the same words stands together.
func TestPlan_SameStatement(t *testing.T) {
	t.Parallel()
	w := planner()
	w.claims[3].Text = w.claims[0].Text
	p := planOf(t, w, prompts.OutlineAnswer{Sections: []prompts.OutlineSection{
		{Title: "A", BlockIDs: []string{"block_1"}}, {Title: "B", BlockIDs: []string{"block_2", "block_3"}},
	}})
	if got := w.shape(p); got != "A 1 2 4; B 3 5 6" {
		t.Error(got)
	}
	p = planOf(t, w, prompts.OutlineAnswer{Sections: []prompts.OutlineSection{ // where one of them is named
		{Title: "A", BlockIDs: []string{"block_1"}}, {Title: "B", BlockIDs: []string{"block_2", "block_3"}, Claims: []int{4}},
	}})
	if got := w.shape(p); got != "A 2; B 1 3 4 5 6" {
		t.Error(got)
	}
}

// One quote of one source that two blocks have noted in their own words is listed once and stands in one place.
func TestPlan_SameQuote(t *testing.T) {
	t.Parallel()
	w := planner()
	for _, i := range []int{0, 1, 3} { // the second is of the first one's block and says something else
		w.claims[i].Source.ID, w.claims[i].Quote = "src_1", "What the source says."
	}
	if blocks := w.digests(0); len(blocks[0].Claims) != 2 || len(blocks[1].Claims) != 1 {
		t.Errorf("%+v", blocks)
	}
	p := planOf(t, w, prompts.OutlineAnswer{Sections: []prompts.OutlineSection{
		{Title: "A", BlockIDs: []string{"block_1"}}, {Title: "B", BlockIDs: []string{"block_2", "block_3"}},
	}})
	if got := w.shape(p); got != "A 1 2 4; B 3 5 6" {
		t.Error(got)
	}
}

// FuzzPlan: whatever a model answers, every claim stands in exactly one section, sections have titles that differ,
// and the stored outline gives the same plan again.
func FuzzPlan(f *testing.F) {
	f.Add(`{"sections":[{"title":"","block_ids":["block_1","block_1","block_2"]},{"title":"A","claims":[1,2,3]}]}`)
	f.Add(`{"title":"T","sections":[{"title":"A","subsections":[{"title":"x","claims":[1,6]},{"title":"X","claims":[2]}]},{"title":"a","claims":[9]}]}`)
	f.Add(`{}`)
	f.Fuzz(func(t *testing.T, answer string) {
		var in prompts.OutlineAnswer
		if json.Unmarshal([]byte(answer), &in) != nil {
			return
		}
		w := planner()
		p := planOf(t, w, in)
		placed := map[string]int{}
		for i, s := range p.sections {
			if s.Title == "" || len(s.claims) == 0 {
				t.Fatalf("unusable section %+v", s)
			}
			for _, o := range p.sections[:i] {
				if report.SameTitle(s.Title, o.Title) && report.TitleKey(s.Title) != "" && report.TitleKey(o.Title) != "" {
					t.Fatalf("two sections %q", s.Title)
				}
			}
			for _, c := range s.claims {
				placed[c.ID]++
			}
		}
		for _, c := range w.claims {
			if placed[c.ID] != 1 {
				t.Fatalf("%s stands in %d sections", c.ID, placed[c.ID])
			}
		}
		w.before = &Text{Outline: p.outline()}
		again, err := w.planned(t.Context())
		if err != nil || w.shape(again) != w.shape(p) {
			t.Fatalf("%v\n%s\n%s", err, w.shape(p), w.shape(again))
		}
	})
}

// TestNewClaimsOfANight: what is new in the outline of the last report stands beside what it is about, not all of it
// in the last section of its block.
func TestNewClaimsOfANight(t *testing.T) {
	t.Parallel()
	w := &writer{Reporter: &Reporter{}, texts: prompts.TextsIn("en"), title: "Topic",
		registry: citation.NewRegistry(nil)}
	w.blocks = []blockEvidence{{id: "block_1", title: "Staffless hours"}}
	for i, said := range []string{
		"To open the same hours with staff, 2.6 posts would be needed.", "The police recorded 5 call-outs to the branch.",
		"The branch in Weststadt could follow in spring.", // these the last report has
		"The hours cost 51,300 euros a year.", "The police do not consider the branch a focus of crime.", "Weststadt gets its hours from March.",
	} {
		id := fmt.Sprintf("CIT-1-%02d", i+1)
		w.claims = append(w.claims, claim{Claim: topicqueue.Claim{ID: id + ".1", CitationID: id, Text: said}, Block: "block_1"})
	}
	w.before = &Text{}
	for i, title := range []string{"Use and cost", "Safety", "Weststadt"} {
		w.before.Outline.Sections = append(w.before.Outline.Sections, OutlineSection{
			Title: title, BlockIDs: []string{"block_1"}, ClaimIDs: []string{w.claims[i].ID}, Subsections: []OutlineSubsection{},
		})
	}
	p, err := w.planned(t.Context())
	if got, want := w.shape(p), "Use and cost 1 4; Safety 2 5; Weststadt 3 6"; err != nil || got != want {
		t.Errorf("%s, want %s, %v", got, want, err)
	}
}
