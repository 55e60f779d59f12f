package support_test

import (
	"fmt"
	"strings"
	"testing"

	"nightdesk/pipeline/citation/support"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	tide := support.Source{ID: "tide", Text: "The tide gauge at Port Hale was installed in 1904.\n\nMean sea level there rose by 21 cm between 1904 and 2020. Tides of up to 4.6 m were measured.", About: "Sea level at Port Hale, Ocean Agency, 2021"}
	table := support.Source{ID: "table", Text: "| Year | Ships | Freight (Mt) |\n|---|---|---|\n| 2019 | 1,204 | 18.2 |\n| 2020 | 1,187 | 17.9 |"}
	mill := support.Source{ID: "mill", Text: "The mill at Orsa made 5.2 million tonnes, that at Falk 3.1. It cost £212 million; a further 38 million went into the quay. Bergo owns 65% of both, Lunde the rest. Falk has 140 workers, 30 fewer than Orsa."}
	fares := support.Source{ID: "fares", Text: "| Line | Length (km) | Fare 2021 (£) | Fare 2022 (£) |\n|---|---|---|---|\n| Line A | 12 | 1.80 | 1.90 |\n| Line C | 19 | 2.10 | 1.80 |"}
	for name, tt := range map[string]struct {
		sentence string
		sources  []support.Source
		want     support.Result
		reason   support.Reason
		detail   string
	}{
		"no source":          {"The tide gauge is old.", nil, support.Unverified, support.ReasonNoText, ""},
		"no text":            {"The tide gauge is old.", []support.Source{{ID: "x"}}, support.Unverified, support.ReasonNoText, ""},
		"verbatim":           {"Mean sea level there rose by 21 cm between 1904 and 2020.", []support.Source{tide}, support.Supported, "", ""},
		"markdown":           {"Mean **sea level** there rose by `21 cm` between 1904 and 2020.", []support.Source{tide}, support.Supported, "", ""},
		"another unit":       {"Mean sea level rose by 0.21 m between 1904 and 2020.", []support.Source{tide}, support.Supported, "", ""},
		"rounded":            {"Mean sea level rose by about 20 cm between 1904 and 2020.", []support.Source{tide}, support.Supported, "", ""},
		"wrong unit":         {"Mean sea level rose by 21 mm between 1904 and 2020.", []support.Source{tide}, support.Unsupported, support.ReasonUnit, "21 mm"},
		"wrong year":         {"The tide gauge at Port Hale was installed in 1940.", []support.Source{tide}, support.Unsupported, support.ReasonDate, "1940"},
		"derived":            {"The difference between 2019 and 2020 was 17 ships in total.", []support.Source{table}, support.Unverified, support.ReasonDerived, "17"},
		"quotation":          {"The agency speaks of \"tides of up to 4.6 m\".", []support.Source{tide}, support.Supported, "", ""},
		"wrong quotation":    {"The agency speaks of \"tides of nearly 5 m\".", []support.Source{tide}, support.Unsupported, support.ReasonQuote, "tides of nearly 5 m"},
		"title":              {"The Ocean Agency reported in 2021 that mean sea level at Port Hale rose by 21 cm.", []support.Source{tide}, support.Supported, "", ""},
		"wrong name":         {"The tide gauge at Cape Horn was installed in 1904.", []support.Source{tide}, support.Unsupported, support.ReasonName, "Cape Horn"},
		"two sources":        {"Mean sea level at Port Hale rose by 21 cm, and 1,187 ships came in 2020.", []support.Source{tide, table}, support.Supported, "", ""},
		"one of two sources": {"Mean sea level at Port Hale rose by 21 cm, and 1,781 ships came in 2020.", []support.Source{tide, table}, support.Unsupported, support.ReasonNumber, "1,781"},
		"other subject":      {"Whale songs fascinate listeners around the globe.", []support.Source{tide}, support.Unsupported, support.ReasonWords, ""},
		"denied":             {"Whales were seen.", []support.Source{{ID: "w", Text: "The harbour master denied that whales were seen."}}, support.Unverified, "", ""},
		"absence":            {"The report does not say how tides were measured in 1904.", []support.Source{tide}, support.Unverified, support.ReasonAbsence, ""},
		"another language":   {"Der Meeresspiegel ist dort seit dem Jahr 1904 um 21 cm gestiegen.", []support.Source{tide}, support.Unverified, support.ReasonLanguage, ""},
		"wrong in another":   {"Der Meeresspiegel ist dort seit dem Jahr 1904 um 12 cm gestiegen.", []support.Source{tide}, support.Unsupported, "", ""},
		"unit left out":      {"Falk made 3.1 million tonnes.", []support.Source{mill}, support.Supported, "", ""},
		"of another":         {"The mill at Falk made 5.2 million tonnes.", []support.Source{mill}, support.Unsupported, support.ReasonSubject, "5.2 million tonnes"},
		"pounds":             {"The mill at Orsa cost 212 million pounds.", []support.Source{mill}, support.Supported, "", ""},
		"sum left out":       {"38 million pounds went into the quay.", []support.Source{mill}, support.Supported, "", ""},
		"the rest":           {"Lunde owns 35% of both.", []support.Source{mill}, support.Unverified, support.ReasonDerived, "35%"},
		"fewer":              {"Orsa has 170 workers.", []support.Source{mill}, support.Unverified, support.ReasonDerived, "170"},
		"cell":               {"The fare on Line A was £1.80 in 2021.", []support.Source{fares}, support.Supported, "", ""},
		"another column":     {"The fare on Line A was £1.80 in 2022.", []support.Source{fares}, support.Unsupported, support.ReasonSubject, "£1.80"},
		"another row":        {"Line A is 19 km long.", []support.Source{fares}, support.Unsupported, support.ReasonSubject, "19 km"},
		"hyphenated":         {"The gauge was re-installed in 1904.", []support.Source{{ID: "h", Text: "The gauge was re-\ninstalled in 1904 by the navy."}}, support.Supported, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := support.Check(tt.sentence, tt.sources)
			if v.Result != tt.want || tt.reason != "" && v.Reason != tt.reason || tt.detail != "" && v.Detail != tt.detail {
				t.Errorf("%+v, want %s %s %q", v, tt.want, tt.reason, tt.detail)
			}
		})
	}
}

// TestPassage: a verdict points at the words that bear the sentence out.
func TestPassage(t *testing.T) {
	t.Parallel()
	text := "Nothing of note happened.\n\nThe pier was built in 1911 by Ann Rowe. It is 320 m long."
	c := support.New([]support.Source{{ID: "a", Text: "Bees dance."}, {ID: "b", Text: text}})
	v := c.Check("Ann Rowe built the pier in 1911.", []string{"a", "b", "unknown", "b"})
	if got := c.Passage(v); v.Source != "b" || got != "The pier was built in 1911 by Ann Rowe." || len(v.Sources) != 1 || v.Sources[0] != "b" {
		t.Errorf("passage %q of %+v", got, v)
	}
}

// many makes 40 sources of so many bytes.
func many(sources []support.Source, size int) []support.Source {
	var all strings.Builder
	for all.Len() < size {
		for _, s := range sources {
			all.WriteString(s.Text + "\n\n")
		}
	}
	var out []support.Source
	for i := range 40 {
		out = append(out, support.Source{ID: fmt.Sprint(i), Text: fmt.Sprintf("Source number %d.\n\n%s", i, all.String()[:size])})
	}
	return out
}

// report checks 200 sentences, each by two of the sources.
func report(sources []support.Source, cases []planted) {
	c := support.New(sources)
	for i := range 200 {
		c.Check(cases[i%len(cases)].sentence, []string{fmt.Sprint(i % 40), fmt.Sprint((i + 7) % 40)})
	}
}

// BenchmarkReport: twice the text takes about twice the time.
func BenchmarkReport(b *testing.B) {
	sources, cases := plant(b, "dev")
	for _, kb := range []int{20, 40, 80} {
		texts := many(sources, 1000*kb)
		b.Run(fmt.Sprintf("%dKB", kb), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				report(texts, cases)
			}
		})
	}
}

// FuzzCheck: foreign text never panics, a verdict points into its source, and what stands there word for word is borne out.
func FuzzCheck(f *testing.F) {
	sources, cases := plant(f, "dev")
	for i, c := range cases {
		f.Add(c.sentence, sources[i%len(sources)].Text, sources[i%len(sources)].About)
	}
	f.Add("水库管理局 opened before 青山水库发电量 closed, 12:30.", "青山水库发电量 opened 水库管理局 before 水库管理局 closed.\n| a | 12:30 (m) |\n|1|2|", "水库")
	f.Add("“a b c” [x](y) 5–", "„a“ 不 5 km/", "\xff")
	f.Fuzz(func(t *testing.T, sentence, text, about string) {
		c := support.New([]support.Source{{ID: "x", Text: text, About: about}})
		v := c.Check(sentence, []string{"x"})
		if v.Start < 0 || v.End < v.Start || v.End > len(text) || v.Overlap < 0 || v.Overlap > 1 {
			t.Fatalf("%+v", v)
		}
		if v.Result == support.Supported && v.Reason != "" || v.Result == "" || v.Result != support.Supported && v.Reason == "" {
			t.Fatalf("%+v", v)
		}
		c.Passage(v)
	})
}
