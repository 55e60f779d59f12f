package reporting

import "testing"

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
