package reporting

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"nightdesk/topicqueue"
)

func TestLikeHeading(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"Tide Tables", "Tide tables:", true},
		{"Tide Tables", "The Admiralty Tide Tables", true},
		{"Tide tables", "How do tide tables work?", true},
		{"Tide tables", "Tide tables of the Admiralty", true},
		{"The tide tables", "Tide tables in Brest", true},
		{"潮汐表", "海军潮汐表", true},
		{"Tide tables", "Tide tables and charts", false}, // a part of what is joined
		{"Charts", "Tide tables and charts", false},
		{"Charts", "Tides, winds, charts", false},
		{"Charts", "Reading sea charts by night without lamps", false},
		{"Brest", "Tide tables in Brest", false},
		{"Tide tables 1911", "Tide tables 1912", false},
		{"Atlantic tide tables", "Baltic tide tables", false},
		{"Tide tables", "Wind roses", false},
		{"潮汐表", "潮汐表与海图", false},
		{"海图", "潮汐表与海图", false},
		{"", "Tide tables", false},
		{"Overview", "Overview of tide tables", false},
	} {
		if got := likeHeading(tt.a, tt.b); got != tt.want {
			t.Errorf("likeHeading(%q, %q) = %v", tt.a, tt.b, got)
		}
		if likeHeading(tt.a, tt.b) != likeHeading(tt.b, tt.a) {
			t.Errorf("%q and %q: not the same both ways", tt.a, tt.b)
		}
	}
}

// FuzzLikeHeading: the order of two headings does not matter, and a heading is like itself.
func FuzzLikeHeading(f *testing.F) {
	f.Add("Tide tables", "The tide tables of Brest")
	f.Add("潮汐表", "海军潮汐表")
	f.Add("of:", "a of \xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		if likeHeading(a, b) != likeHeading(b, a) || !likeHeading(a, a) {
			t.Fatalf("%q, %q", a, b)
		}
	})
}

func TestReportTitle(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]bool{
		"Tides of the Atlantic":        true,
		"Tides: an overview (2nd ed.)": true,
		"Why [sic] tides rise":         true,
		"潮汐的成因":                        true,
		"조석의 원인":                       true,
		"Tides":                        false,
		"潮":                            false,
		"12 34":                        false,
		"":                             false,
		`{"title": "Tides of the sea"`: false,
		`title": Tides of the sea`:     false,
		`'title' : Tides of the sea`:   false,
		`Tides of the sea\nSections`:   false,
		`Tides of the sea [] sections`: false,
		`[Tides of the sea]`:           false,
		`Tides of the sea"}`:           false,
	} {
		if got := reportTitle(title); got != want {
			t.Errorf("reportTitle(%q) = %v", title, got)
		}
	}
}

// A part of a section that is called like the section has no heading of its own at the beginning, and has one after
// another part, under which it would stand otherwise.
func TestPartCalledLikeItsSection(t *testing.T) {
	t.Parallel()
	headings := regexp.MustCompile(`(?m)^### .*$`)
	for parts, want := range map[string]string{
		"Daily keeper duties|Clockwork|Fog": "### Clockwork|### Fog",
		"Clockwork|Daily keeper duties|Fog": "### Clockwork|### Daily keeper duties|### Fog",
		"Clockwork|Keeper duties":           "### Clockwork|### Lighthouses: Keeper duties",
	} {
		var claims []claim
		for i, part := range strings.Split(parts, "|") {
			for n := range 3 {
				claims = append(claims, claim{home: true, Claim: topicqueue.Claim{CitationID: "CIT-1-01", Quote: fmt.Sprint("Rule ", n, " of ", part, "."), Start: n},
					source: topicqueue.Source{Title: "Lighthouses", Document: "a", Section: []string{part}, Offset: 100 * i}})
			}
		}
		got := strings.Join(headings.FindAllString(english.prose(claims, "Keeper duties", claim.quote), -1), "|")
		if got != want {
			t.Errorf("%s: headings %q, want %q", parts, got, want)
		}
	}
}
