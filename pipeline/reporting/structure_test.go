package reporting_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
)

var (
	links    = regexp.MustCompile(`\[\[([A-Z0-9-]+)\]\(#(ref-[a-z0-9-]+)\)\]`)
	anchors  = regexp.MustCompile(`(?m)^<a id="(ref-[a-z0-9-]+)"></a> \[([A-Z0-9-]+)\]`)
	headings = regexp.MustCompile(`(?m)^#+ .*$`)
	fences   = regexp.MustCompile("(?s)```.*?```")
)

// checkStructure asserts what holds for every report.
func checkStructure(t *testing.T, in reporting.Input, r reporting.Report, style string) {
	t.Helper()
	defined, cited := map[string]bool{}, map[string]bool{}
	for _, m := range anchors.FindAllStringSubmatch(r.Markdown, -1) {
		if defined[m[1]] {
			t.Errorf("reference %s is listed twice", m[1])
		}
		defined[m[1]] = true
		if style == topicqueue.CitationNumbered && m[2] != strconv.Itoa(len(defined)) {
			t.Errorf("number %s in place %d", m[2], len(defined))
		}
	}
	for _, m := range links.FindAllStringSubmatch(r.Markdown, -1) {
		cited[m[2]] = true
		if !defined[m[2]] {
			t.Errorf("marker %s has no reference", m[0])
		}
	}
	if len(cited) != len(defined) || len(cited) == 0 {
		t.Errorf("%d markers, %d references", len(cited), len(defined))
	}
	for _, h := range headings.FindAllString(fences.ReplaceAllString(r.Markdown, ""), -1) {
		if strings.Contains(h, "CIT-") || strings.Contains(h, "block_") || regexp.MustCompile(`^#+ \d`).MatchString(h) {
			t.Errorf("heading with an id or number: %q", h)
		}
	}
	placed := map[string]int{}
	for _, s := range r.Outline.Sections {
		for _, id := range s.AllClaimIDs() {
			placed[id]++
		}
	}
	for _, b := range in.Blocks {
		claims := 0
		for _, trace := range b.Traces {
			claims += len(trace.Claims)
		}
		gap := slices.ContainsFunc(r.Gaps, func(g reporting.Gap) bool { return g.BlockID == b.Block.ID })
		if claims == 0 && !gap {
			t.Errorf("%s is neither reported nor named as a gap", b.Block.ID)
		}
		for _, trace := range b.Traces {
			for _, c := range trace.Claims { // without a model some rank too low
				if n := placed[c.ID]; n > 1 || n == 0 && r.Statistics.ClaimsLeftOut == 0 {
					t.Errorf("%s stands in %d sections", c.ID, n)
				}
			}
		}
	}
	if strings.Contains(r.Markdown, "CIT-9-09") || strings.Contains(r.Markdown, "evil.example") {
		t.Error("an invented citation or link is left")
	}
	if strings.Contains(r.Markdown, "\n\n\n") {
		t.Error("doubled blank lines")
	}
}
