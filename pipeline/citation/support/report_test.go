package support_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/citation/verification"
)

// TestPlantedReport sends a report of 200 sentences through verification and claim support, like `verify --report`.
// Every invented citation is removed, and no false sentence is supported.
func TestPlantedReport(t *testing.T) {
	t.Parallel()
	sources, cases := plant(t)
	random := rand.New(rand.NewPCG(6, 2026))
	random.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
	const sentences, perKind = 200, 24
	var chosen []planted
	count := map[string]int{}
	for _, c := range cases {
		if count[c.kind] < perKind && len(chosen) < sentences-30 {
			count[c.kind]++
			chosen = append(chosen, c)
		}
	}
	for i := range 30 { // good sentences with a source that does not exist
		c := cases[i]
		c.kind = []string{"invented url", "invented document"}[i%2]
		chosen = append(chosen, c)
	}
	random.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })

	registered := make([]citation.Source, len(sources))
	for i, s := range sources {
		registered[i] = citation.Source{Title: s.About, Text: s.Text}
		if i%2 == 0 {
			registered[i].URL = "https://www.example.org/reports/" + s.ID
		} else {
			registered[i].Key = s.ID + ".pdf"
		}
	}
	// Each sentence has its own number in the text. Each source and each invention has one entry.
	var body, references strings.Builder
	number := map[string]int{}
	entry := func(key, line string) int {
		if number[key] == 0 {
			number[key] = len(number) + 1
			fmt.Fprintf(&references, "[%d] %s\n", number[key], line)
		}
		return number[key]
	}
	for i, c := range chosen {
		n := 0
		switch at := slices.IndexFunc(sources, func(s support.Source) bool { return s.ID == c.source }); c.kind {
		case "invented url":
			n = entry(strconv.Itoa(i), fmt.Sprintf("A page: https://www.example.org/reports/%s-%d", c.source, 1000+i))
		case "invented document":
			n = entry(strconv.Itoa(i), fmt.Sprintf("%s-%d.pdf, p. 3", c.source, 1000+i))
		default:
			line := registered[at].Key
			if line == "" {
				line = registered[at].Title + ": " + registered[at].URL
			}
			n = entry(c.source, line)
		}
		fmt.Fprintf(&body, "- %s [%d]\n", strings.Join(strings.Fields(c.sentence), " "), n)
	}
	registry := citation.RegistryOf(registered)
	v := verification.Verify(registry, "# A report\n\n"+body.String()+"\n## References\n\n"+references.String(), false)

	judged := map[string][]verification.Sentence{} // a sentence may stand there twice, with different sources
	for _, s := range v.Sentences {
		judged[s.Text] = append(judged[s.Text], s)
	}
	all := make([]support.Source, len(sources))
	for i, s := range registry.Sources() {
		all[i] = support.Source{ID: strconv.Itoa(i), Text: s.Text, About: s.Title}
	}
	corpus := support.New(all)
	counts := map[string]*struct{ all, supported, unverified, unsupported, uncited int }{}
	var kinds []string
	for _, c := range chosen {
		n := counts[c.kind]
		if n == nil {
			n = &struct{ all, supported, unverified, unsupported, uncited int }{}
			counts[c.kind], kinds = n, append(kinds, c.kind)
		}
		n.all++
		key := strings.Join(strings.Fields(c.sentence), " ")
		if strings.HasPrefix(c.kind, "invented") || len(judged[key]) == 0 {
			n.uncited++
			continue
		}
		s := judged[key][0]
		judged[key] = judged[key][1:]
		ids := make([]string, len(s.Sources))
		for i, at := range s.Sources {
			ids[i] = strconv.Itoa(at)
		}
		switch corpus.Check(s.Text, "", ids).Decide(support.Judged{}) {
		case support.Supported:
			n.supported++
		case support.Unverified:
			n.unverified++
		case support.Unsupported:
			n.unsupported++
		}
	}
	invented := ofKind(chosen, "invented url") + ofKind(chosen, "invented document")
	if len(v.Removed) != invented {
		t.Errorf("%d of %d invented sources removed", len(v.Removed), invented)
	}
	for _, r := range v.Removed {
		if r.Reason != citation.ReasonUnknownURL && r.Reason != citation.ReasonUnknownKey {
			t.Errorf("removed for %s: %s", r.Reason, r.Line)
		}
	}
	slices.Sort(kinds)
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-18s %5s %10s %11s %12s %10s\n", "kind", "all", "supported", "unverified", "unsupported", "no source")
	for _, k := range kinds {
		c := counts[k]
		fmt.Fprintf(&b, "%-18s %5d %10d %11d %12d %10d\n", k, c.all, c.supported, c.unverified, c.unsupported, c.uncited)
		switch k {
		case "verbatim", "paraphrase":
			if 100*c.unsupported > 3*c.all {
				t.Errorf("%s: %d called unsupported", k, c.unsupported)
			}
		default:
			if c.supported > 0 {
				t.Errorf("%s: %d of %d pass", k, c.supported, c.all)
			}
		}
	}
	t.Logf("%d sentences, %d invented sources removed%s", len(chosen), len(v.Removed), b.String())
}

func ofKind(cases []planted, kind string) int {
	n := 0
	for _, c := range cases {
		if c.kind == kind {
			n++
		}
	}
	return n
}
