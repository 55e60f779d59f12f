package support_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"nightdesk/pipeline/citation/support"
)

var (
	tide  = support.Source{ID: "tide", Text: "The tide gauge at Port Hale was installed on 5 March 1904.\n\nMean sea level there rose by 21 cm between 1904 and 2020. Tides of up to 4.6 m were measured, the last at 17:42.", About: "Sea level at Port Hale, Ocean Agency, 2021"}
	ships = support.Source{ID: "ships", Text: "Ships and freight of the port.\n\n| Year | Ships | Freight (Mt) |\n|---|---|---|\n| 2019 | 1,204 | 18.2 |\n| 2020 | 1,187 | 17.9 |"}
	mill  = support.Source{ID: "mill", Text: "The mill at Orsa made 5.2 million tonnes, that at Falk 3.1. It cost £212 million; a further 38 million went into the quay. Bergo owns 65% of both, Lunde the rest. Its turbine has 28 MW and gave 140 GWh."}
	zh    = support.Source{ID: "zh", Text: "青山水库2019年发电量为1.2亿千瓦时，比上年增长百分之五。"}
)

var release = support.Source{ID: "release", Text: "v1.12.0 (2026-06-16)\n\n- Recover connections and channels.\n\n" +
	"v1.13.0 (2026-07-21)\n\n- Recover the topology."}

func TestCheck(t *testing.T) {
	t.Parallel()
	all := []support.Source{tide, ships, mill, zh, release}
	corpus := support.New(all)
	for name, tt := range map[string]struct {
		sentence, head, source string
		quotation              support.Finding
		figures                string // findings with their texts
		want                   support.Result
	}{
		"verbatim":               {"Mean sea level there rose by 21 cm between 1904 and 2020.", "", "tide", support.Verbatim, "", support.Supported},
		"verbatim, Markdown":     {"mean **sea level** there rose by `21 cm` between [1904](https://x.example) and 2020", "", "tide", support.Verbatim, "", support.Supported},
		"part of a sentence":     {"Sea level there rose by 21 cm.", "", "tide", "", "found 21 cm", support.Unverified},
		"other words":            {"The sea at Port Hale has risen.", "", "tide", "", "", support.Unverified},
		"quotation":              {`The agency speaks of "tides of up to 4.6 m".`, "", "tide", support.Found, "found 4.6 m", support.Unverified},
		"quotation of the title": {`In "Sea level at Port Hale" it is told.`, "", "tide", support.Found, "", support.Unverified},
		"quotation with a gap":   {`It was "installed on [...] 1904".`, "", "tide", support.Found, "found 1904", support.Unverified},
		"false quotation":        {`The agency speaks of "tides of nearly five metres".`, "", "tide", support.Absent, "", support.Unsupported},
		"translated quotation":   {`It made "120 million kilowatt hours of power".`, "", "zh", "", "found 120 million kilowatt hours", support.Unverified},
		"another unit":           {"Sea level rose by 0.21 m.", "", "tide", "", "found 0.21 m", support.Unverified},
		"about":                  {"Sea level rose by about 20 cm.", "", "tide", "", "found 20 cm", support.Unverified},
		"wrong unit":             {"Sea level rose by 21 mm.", "", "tide", "", "absent 21 mm", support.Unsupported},
		"wrong figure":           {"Sea level rose by 12 cm.", "", "tide", "", "absent 12 cm", support.Unsupported},
		"date":                   {"It was installed on March 5, 1904.", "", "tide", "", "found March 5, 1904", support.Unverified},
		"date without its year":  {"It was installed on 5 March.", "", "tide", "", "found 5 March.", support.Unverified},
		"wrong date, no year":    {"It was installed on 6 March.", "", "tide", "", "absent 6 March.", support.Unverified},
		"wrong date":             {"It was installed on 6 March 1904.", "", "tide", "", "absent 6 March 1904", support.Unsupported},
		"date of the title":      {"The report of 2021 is the last.", "", "tide", "", "found 2021", support.Unverified},
		"a month of a year": {"It was installed in March 1908.", "", "tide", "", "absent March 1908",
			support.Unsupported},
		"years between":    {"Within 116 years the sea rose between 1904 and 2020.", "", "tide", "", "absent 116 years found 1904 found 2020", support.Unverified},
		"difference":       {"In 2020 there were 17 ships fewer than in 2019.", "", "ships", "", "found 2020 absent 17 found 2019", support.Unverified},
		"percent change":   {"Freight shrank by 1.6% from 2019 to 2020.", "", "ships", "", "absent 1.6% found 2019 found 2020", support.Unverified},
		"unit of a column": {"Freight was 18.2 million tonnes in 2019.", "", "ships", "", "found 18.2 million tonnes found 2019", support.Unverified},
		"row":              {"2019 | 18,200", "Year | Freight (kt)", "ships", "", "found 2019 found 18,200 kt", support.Unverified},
		"wrong row":        {"2019 | 18,900", "Year | Freight (kt)", "ships", "", "found 2019 absent 18,900 kt", support.Unverified},
		"left out":         {"Falk made 3.1 million tonnes.", "", "mill", "", "found 3.1 million tonnes", support.Unverified},
		"money left out":   {"38 million pounds went into the quay.", "", "mill", "", "found 38 million pounds", support.Unverified},
		"sum":              {"Mill and quay cost £250 million.", "", "mill", "", "absent £250 million", support.Unverified},
		"rest of 100%":     {"Lunde owns 35% of both.", "", "mill", "", "absent 35%", support.Unverified},
		"full load":        {"The turbine ran 5,000 hours.", "", "mill", "", "absent 5,000 hours", support.Unverified},
		"small number":     {"Two limits hold for three of them.", "", "mill", "", "", support.Unverified},
		"version":          {"Since 1.12.0 connections are recovered.", "", "release", "", "found 1.12.0", support.Unverified},
		"wrong version": {"Since v1.21.0 connections are recovered.", "", "release", "", "absent 1.21.0",
			support.Unverified},
		"chinese":               {"2019年发电1.2亿千瓦时。", "", "zh", "", "found 2019年 found 1.2亿千瓦时", support.Unverified},
		"chinese, verbatim":     {"青山水库2019年发电量为1.2亿千瓦时，比上年增长百分之五。", "", "zh", support.Verbatim, "", support.Supported},
		"chinese, wrong figure": {"2019年发电2.1亿千瓦时。", "", "zh", "", "found 2019年 absent 2.1亿千瓦时", support.Unsupported},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := corpus.Check(tt.sentence, tt.head, []string{tt.source})
			var figures []string
			for _, g := range f.Figures {
				figures = append(figures, string(g.Result)+" "+g.Text)
			}
			if got := strings.Join(figures, " "); f.Quotation.Result != tt.quotation || got != tt.figures || f.Decide(support.Judged{}) != tt.want {
				t.Errorf("quotation %q, figures %q, %s", f.Quotation.Result, got, f.Decide(support.Judged{}))
			}
		})
	}
	if f := corpus.Check("The gauge is old.", "", []string{"unknown"}); !f.NoText || f.Decide(support.Judged{}) != support.Unverified {
		t.Errorf("without a text: %+v", f)
	}
	if f := corpus.Check("Sea level rose by 21 cm, and 1,187 ships came.", "", []string{"tide", "ships", "tide"}); f.Has(support.Absent) || len(f.Figures) != 2 {
		t.Errorf("two sources: %+v", f)
	}
}

// TestForms: a figure is found in any notation of the source.
func TestForms(t *testing.T) {
	t.Parallel()
	table := func(head, cell string) string {
		return "| Year | " + head + " |\n|---|---|\n| 2023 | " + cell + " |\n"
	}
	for _, tt := range []struct{ sentence, source string }{
		{"Sales fell by 6 per cent.", table("Change (%)", "-6")},
		{"There were 0 accidents.", table("Accidents", "0")},
		{"It cost 0 euros.", "It cost nothing: € 0 were paid."},
		{"It was minus 5 degrees.", "It was -5 °C."},
		{"It was 5 °C.", "It was 41 °F."},
		{"The yield was 512 thousand t.", table("Yield (1,000 t)", "512")},
		{"The yield was 512,000 t.", table("Yield ('000 t)", "512")},
		{"The budget was 340,000 euros.", table("Budget (€ 000)", "340")},
		{"It takes 3.4 kWh per cubic metre.", table("Power (kWh/m3)", "3.4")},
		{"It costs 11.9p per cubic metre.", table("Cost (p/m3)", "11.9")},
		{"It takes 3.4 kWh.", table("Second train (kWh)", "3.4")},
		{"The permits take 6 weeks.", "| Step | Salt |\n|---|---|\n| Time for permits (weeks, from the request) | 6 |\n"},
	} {
		c := support.New([]support.Source{{ID: "x", Text: tt.source}})
		f := c.Check(tt.sentence, "", []string{"x"})
		if len(f.Figures) != 1 || f.Figures[0].Result != support.Found {
			t.Errorf("%s\n%s\n%+v", tt.sentence, tt.source, f.Figures)
		}
	}
	for _, tt := range []struct{ sentence, source string }{
		{"There were 0 accidents.", table("Accidents", "3")},
	} {
		c := support.New([]support.Source{{ID: "x", Text: tt.source}})
		f := c.Check(tt.sentence, "", []string{"x"})
		if f.Figures[0].Result == support.Found {
			t.Errorf("%s\n%s\n%+v", tt.sentence, tt.source, f.Figures)
		}
	}
}

// TestStructure: figures get the unit of a heading, lead line or table.
func TestStructure(t *testing.T) {
	t.Parallel()
	ferry := "# Ferry of Skar\n\n## Accounts (millions of kroner)\n\n- Income: 14.6 (2021: 13.2)\n- Costs: 12.9\n\n" +
		"## Tickets\n\nAll prices in euros, without tax (25 %).\n\n| Ticket | Pack | May | June |\n|---|---|---|---|\n" +
		"| Car | 20 kg bag | 48.00 | 53.50 |\n| Bicycle | 4 kg bag | 6.20 | 7.10 |\n\n" +
		"## Service\n\nThe pier was closed from Friday 4 to Monday 21 March 2022. Winter service ran from 9 November to 3 February 2021. " +
		"The 26 trips carried 3,458 people. The sea has 8 °C in April and 19 °C in July. The boat left at 10:40.\n\n" +
		"## Fuel (t)\n\n| Year | Oil (t) | Gas (t) |\n|---|---|---|\n| 2020 | 412 | 96 |\n| 2021 | 377 | 131 |\n| 2022 | 290 | 155 |\n\n" +
		strings.Repeat("The log of the day has 3 gulls, 5 seals and 17 waves.\n\n", 40) +
		"## Repairs\n\nThe fund held €18,000. Repairs of the hull cost €17,455 in all. " +
		"The lamps save 420 MWh a year. Eggs cost 31.5p each. Of 9,260 members each owes a part of €4,815,200."
	c := support.New([]support.Source{{ID: "ferry", Text: ferry, About: "Ferry"}})
	for sentence, want := range map[string]string{
		"Income was 14.6 million kroner.":                    "found",
		"A car ticket is €53.50 in June.":                    "found",
		"From 2020 to 2022 1,079 tonnes of oil were burned.": "found found absent",
		"In 2021 377 t of oil were burned.":                  "found found",
		"In 2021 oil fell by 35 kg.":                         "found absent",
		"Los viajes llevaron 3.458 personas.":                "found",
		"Les lampes épargnent 420 000 kilowattheures.":       "found",
		"An egg costs £0.315.":                               "found",
		"The lamps save 420 kWh.":                            "absent",
	} {
		var got []string
		for _, f := range c.Check(sentence, "", []string{"ferry"}).Figures {
			got = append(got, string(f.Result))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s\n got %s\nwant %s", sentence, strings.Join(got, " "), want)
		}
	}
}

// TestDenied: words quoted from a sentence that denies them are not verbatim.
func TestDenied(t *testing.T) {
	t.Parallel()
	c := support.New([]support.Source{{ID: "x", Text: "It is not true that whales were seen. The harbour master said: whales were fed in the bay."}})
	for sentence, want := range map[string]support.Finding{"Whales were seen.": "", "Whales were fed in the bay.": support.Verbatim} {
		if f := c.Check(sentence, "", []string{"x"}); f.Quotation.Result != want {
			t.Errorf("%s: %+v", sentence, f)
		}
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	figure := func(r support.Finding) support.Findings {
		return support.Findings{Figures: []support.Figure{{Result: r}}}
	}
	misstated := support.Findings{Figures: []support.Figure{{Result: support.Absent, Instead: "21 cm"}}}
	span := &support.Span{Source: "x", End: 1}
	for name, tt := range map[string]struct {
		findings support.Findings
		judged   support.Judged
		want     support.Result
	}{
		"nothing":                    {support.Findings{}, support.Judged{}, support.Unverified},
		"proven":                     {figure(support.Found), support.Judged{Judgement: support.JudgedSupported, Span: span}, support.Supported},
		"not proven":                 {figure(support.Found), support.Judged{Judgement: support.JudgedSupported}, support.Unverified},
		"proven, without the figure": {figure(support.Absent), support.Judged{Judgement: support.JudgedSupported, Span: span}, support.Unverified},
		"proven, by other figures": {figure(support.Absent),
			support.Judged{Judgement: support.JudgedSupported, Span: span, Words: "3,412 of 5,402"}, support.Supported},
		"not proven, and no figure":      {figure(support.Absent), support.Judged{Judgement: support.JudgedSupported}, support.Unverified},
		"a misstated figure":             {misstated, support.Judged{}, support.Unsupported},
		"a misstated figure, judge away": {misstated, support.Judged{Missing: support.NoAnswer}, support.Unsupported},
		"a misstated figure, judged": {misstated,
			support.Judged{Judgement: support.JudgedSupported, Span: span, Words: "rose by 21 cm"}, support.Supported},
		"a misstated figure in a conclusion": {misstated,
			support.Judged{Judgement: support.JudgedConclusion, Span: span}, support.Unverified},
		"contradicted":  {figure(support.Found), support.Judged{Judgement: support.JudgedContradicted}, support.Unsupported},
		"not in source": {figure(support.Found), support.Judged{Judgement: support.JudgedAbsent}, support.Unsupported},
		"partly":        {figure(support.Found), support.Judged{Judgement: support.JudgedPartly, Span: span}, support.Unverified},
		"partly, without a figure": {figure(support.Absent),
			support.Judged{Judgement: support.JudgedPartly, Span: span}, support.Unsupported},
		"a conclusion": {figure(support.Absent), support.Judged{Judgement: support.JudgedConclusion, Span: span}, support.Unverified},
		"false quotation": {support.Findings{Quotation: support.Quotation{Result: support.Absent}},
			support.Judged{Judgement: support.JudgedSupported, Span: span}, support.Unsupported},
		"verbatim": {support.Findings{Quotation: support.Quotation{Result: support.Verbatim}}, support.Judged{}, support.Supported},
	} {
		if got := tt.findings.Decide(tt.judged); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

func TestProve(t *testing.T) {
	t.Parallel()
	c := support.New([]support.Source{tide, ships})
	for words, want := range map[string]string{
		"rose by 21 cm between":                     "rose by 21 cm between",
		"“Mean sea level there … 21 cm”":            "Mean sea level there",
		"Mean sea level there ... rose by 21 cm":    "Mean sea level there",
		"| 2019 | 1,204 |":                          "| 2019 | 1,204 |",
		"21 cm":                                     "", // too little to prove anything
		"rose by 12 cm between":                     "",
		"Mean sea level there ... fell by 21 cm so": "",
		"": "",
	} {
		j := c.Prove(support.Judged{Words: words, Span: &support.Span{Source: "forged"}}, []string{"tide", "ships"})
		got := ""
		if j.Span != nil {
			got = c.Text(*j.Span)
		}
		if got != want || j.Words != words {
			t.Errorf("%q stands in %q, want %q", words, got, want)
		}
	}
	if j := c.Prove(support.Judged{Words: "rose by 21 cm between"}, []string{"ships"}); j.Span != nil {
		t.Errorf("found in a source that is not cited: %+v", j)
	}
}

// TestPassages: passages are around quotes and the sentence's words, only from cited sources, within the limit.
func TestPassages(t *testing.T) {
	t.Parallel()
	long := support.Source{ID: "long", Text: strings.Repeat("Nothing of note happened on that day.\n\n", 200) + "The pier was built by Ann Rowe. It is 320 m long.\n\n" + strings.Repeat("Bees dance in the sun.\n\n", 200) + "The lamp was lit in 1911."}
	c := support.New([]support.Source{long, tide})
	lamp := strings.Index(long.Text, "The lamp")
	var texts []string
	for _, s := range support.Merge(c.Passages("Ann Rowe built the pier.", []string{"long", "unknown"}, []support.Span{{Source: "long", Start: lamp, End: lamp + 8}, {Source: "tide", End: 5}, {Source: "long", Start: 9, End: 4}}, 400)) {
		if s.Source != "long" {
			t.Errorf("a passage of %s", s.Source)
		}
		texts = append(texts, c.Text(s))
	}
	if got := strings.Join(texts, "\n"); !strings.Contains(got, "The pier was built by Ann Rowe. It is 320 m long.") || !strings.Contains(got, "The lamp was lit in 1911.") || len(got) > 400 {
		t.Errorf("%d bytes:\n%s", len(got), got)
	}
}

// TestTexts decides the sentences about the texts without a judge, and checks the documented guarantees.
func TestTexts(t *testing.T) {
	t.Parallel()
	sources, cases := plant(t)
	corpus := support.New(sources)
	good, accused, figures, caught := 0, 0, 0, 0
	for _, c := range cases {
		f := corpus.Check(c.sentence, "", c.cites())
		result := f.Decide(support.Judged{})
		switch {
		case c.kind == "verbatim" && result != support.Supported && strings.ContainsAny(c.sentence[len(c.sentence)-1:], ".!?"):
			t.Errorf("verbatim and %s: %s", result, c.sentence)
		case c.kind != "verbatim" && c.kind != "source" && result == support.Supported:
			t.Errorf("%s: supported: %s", c.kind, c.sentence)
		}
		if c.good() {
			if good++; result == support.Unsupported {
				accused++
			}
		}
		if c.wrongFigure() {
			if figures++; result == support.Unsupported {
				caught++
			}
		}
		checkSpans(t, corpus, sources, f)
	}
	t.Logf("%d of %d true sentences called unsupported, %d of %d wrong figures found", accused, good, caught, figures)
	if 100*accused > 3*good || 100*caught < 45*figures {
		t.Errorf("%d of %d true sentences called unsupported, %d of %d wrong figures found", accused, good, caught, figures)
	}
}

// checkSpans checks that all spans are in their texts, on character boundaries.
func checkSpans(t testing.TB, corpus *support.Corpus, sources []support.Source, f support.Findings) {
	t.Helper()
	spans := slices.Clone(f.Quotation.Spans)
	for _, g := range f.Figures {
		spans = append(spans, g.Spans...)
	}
	for _, s := range spans {
		at := slices.IndexFunc(sources, func(source support.Source) bool { return source.ID == s.Source })
		if at < 0 || s.Start < 0 || s.End < s.Start || s.End > len(sources[at].Text) {
			t.Fatalf("%+v is no place", s)
		}
		if utf8.ValidString(sources[at].Text) && !utf8.ValidString(corpus.Text(s)) {
			t.Fatalf("%+v cuts a character", s)
		}
	}
}

// many returns 40 sources of this many bytes.
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
		c.Check(cases[i%len(cases)].sentence, "", []string{fmt.Sprint(i % 40), fmt.Sprint((i + 7) % 40)})
	}
}

// BenchmarkReport: twice the text takes about twice the time.
func BenchmarkReport(b *testing.B) {
	sources, cases := plant(b)
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

// FuzzCheck: no text causes a panic, spans are in their sources, and equal texts have equal findings.
func FuzzCheck(f *testing.F) {
	sources, cases := plant(f)
	for i, c := range cases {
		f.Add(c.sentence, sources[i%len(sources)].Text, sources[i%len(sources)].About)
	}
	f.Add("a b c", strings.Repeat("a\x80", 3000)+strings.Repeat("\x80", 9000), "")
	f.Add("水库管理局 opened 12:30 “b c d”.", "| a | 12:30 (m) |\n|1|2|\n青山 b c d.", "水库 1999")
	f.Add("“a b c” [x](y) 5–", "„a“ 不 5 km/", "\xff")
	f.Add("1 km | 5-6 €/", "a (km | b (€m)\n1|2\n", "|")
	f.Fuzz(func(t *testing.T, sentence, text, about string) {
		source := support.Source{ID: "x", Text: text, About: about}
		c := support.New([]support.Source{source})
		for _, head := range []string{"", about} {
			found := c.Check(sentence, head, []string{"x"})
			checkSpans(t, c, []support.Source{source}, found)
			if again := support.New([]support.Source{source}).Check(sentence, head, []string{"x"}); !reflect.DeepEqual(again, found) {
				t.Fatalf("%+v, then %+v", found, again)
			}
		}
		for _, s := range c.Passages(sentence, []string{"x"}, []support.Span{{Source: "x", Start: len(about), End: len(sentence)}}, 200) {
			if s.Start < 0 || s.End <= s.Start || s.End > len(text) {
				t.Fatalf("%+v", s)
			}
		}
		if j := c.Prove(support.Judged{Words: sentence}, []string{"x"}); j.Span != nil && c.Text(*j.Span) == "" {
			t.Fatalf("%+v", j)
		}
	})
}

// TestPassagesOfAShortSource: a source that is not much longer than the limit is shown whole, because its header
// explains its rows.
func TestPassagesOfAShortSource(t *testing.T) {
	t.Parallel()
	table := "Ships by harbour\n\n| Harbour | Ships |\n|---|---|\n" +
		strings.Repeat("| Ashby | 12 |\n", 20) + "| Corr | 31 |"
	corpus := support.New([]support.Source{{ID: "ships", Text: table}})
	for limit, whole := range map[int]bool{len(table): true, (len(table) + 1) / 2: true, len(table) / 5: false} {
		got := corpus.Passages("Corr had 31 ships.", []string{"ships"}, nil, limit)
		if len(got) == 0 || (corpus.Text(got[0]) == table) != whole {
			t.Errorf("limit %d of %d: %+v", limit, len(table), got)
		}
	}
}

// TestWholeBlocks: a passage around a row is the whole table with its header, if it fits.
func TestWholeBlocks(t *testing.T) {
	t.Parallel()
	const table = "Data of the store:\n\n| Item | Value |\n|---|---|\n| Area | 140 m2 |\n" +
		"| Height | 7.4 m |\n| Mass | 545 t |\n" +
		"| Noise | 58 dB |\n| Modules | 12 |"
	filler := strings.Repeat("Nothing of note happened on that day.\n\n", 80)
	c := support.New([]support.Source{{ID: "x", Text: filler + table + "\n\n" + filler}})
	at := len(filler) + strings.Index(table, "58 dB")
	quote := []support.Span{{Source: "x", Start: at, End: at + len("58 dB")}}
	for limit, whole := range map[int]bool{600: true, 80: false} {
		got := c.Passages("The store makes a noise of 58 dB.", []string{"x"}, quote, limit)
		if text := c.Text(got[0]); strings.Contains(text, table) != whole || !strings.Contains(text, "| Noise | 58 dB |") {
			t.Errorf("of %d bytes:\n%s", limit, text)
		}
	}
}

// TestFigureForms: a unit that is not first in the brackets of a table.
func TestFigureForms(t *testing.T) {
	t.Parallel()
	const source = "Flights until 11.30 pm and from 5 am would still be allowed.\n\n| Item | Closure | Quota |\n" +
		"|---|---|---|\n| Compensation (counsel's range, £m) | 11–19 | 0–2 |"
	c := support.New([]support.Source{{ID: "x", Text: source}})
	for sentence, want := range map[string]support.Finding{
		"Counsel puts the compensation at £11 million to £19 million.": support.Found,
		"Counsel puts the compensation at £25 million.":                support.Absent,
	} {
		for _, f := range c.Check(sentence, "", []string{"x"}).Figures {
			if f.Result != want {
				t.Errorf("%s: %+v", sentence, f)
			}
		}
	}
}

// TestQuotesAreShown: each quote of a sentence is shown, however small the limit.
func TestQuotesAreShown(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("Nothing of note happened on that day. ", 60)
	const one, two = "The pier was built by Ann Rowe in 1904.", "The lamp was lit by her son in 1911."
	source := filler + one + " " + filler + two + " " + filler
	c := support.New([]support.Source{{ID: "x", Text: source}})
	var quotes []support.Span
	for _, quote := range []string{one, two} {
		at := strings.Index(source, quote)
		quotes = append(quotes, support.Span{Source: "x", Start: at, End: at + len(quote)})
	}
	var shown string
	for _, s := range support.Merge(c.Passages("Ann Rowe built it, her son lit it.", []string{"x"}, quotes, 100)) {
		shown += c.Text(s) + "\n"
	}
	if !strings.Contains(shown, one) || !strings.Contains(shown, two) || len(shown) > 300 {
		t.Errorf("%d bytes:\n%s", len(shown), shown)
	}
}
