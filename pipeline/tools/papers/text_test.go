package papers_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/tools/papers"
)

func TestIDs(t *testing.T) {
	t.Parallel()
	type ids struct{ doi, arXiv, pmid, pmcid string }
	for in, want := range map[string]ids{
		"10.1234/ABC.5":                                     {doi: "10.1234/abc.5"},
		"https://doi.org/10.1234/Abc":                       {doi: "10.1234/abc"},
		"http://dx.doi.org/10.1234/abc.":                    {doi: "10.1234/abc"},
		"doi:10.1234/a%3Cb":                                 {doi: "10.1234/a<b"},
		"10.48550/arXiv.2101.00001":                         {doi: "10.48550/arxiv.2101.00001", arXiv: "2101.00001"},
		"http://arxiv.org/abs/2101.00001v12":                {arXiv: "2101.00001"},
		"https://arxiv.org/pdf/math.GT/0309136v2.pdf":       {arXiv: "math/0309136"},
		"arXiv:hep-ex/0307015":                              {arXiv: "hep-ex/0307015"},
		"https://pubmed.ncbi.nlm.nih.gov/29456894/":         {pmid: "29456894", pmcid: "PMC29456894"},
		"PMC5815332":                                        {pmid: "5815332", pmcid: "PMC5815332"},
		"https://www.ncbi.nlm.nih.gov/pmc/articles/5815332": {pmid: "5815332", pmcid: "PMC5815332"},
		"00012":                   {pmid: "12", pmcid: "PMC12"},
		"":                        {},
		"10.12/x":                 {},
		"10.1234/":                {},
		"10.1234/a b":             {},
		"no id":                   {},
		"https://a.example/abs/x": {},
	} {
		doi, arXiv, pmid, pmcid := papers.IDs(in)
		if got := (ids{doi, arXiv, pmid, pmcid}); got != want {
			t.Errorf("%q: %+v, want %+v", in, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain text": "plain text",
		"<jats:sec><jats:title>Aim</jats:title><jats:p>To see.</jats:p></jats:sec>": "Aim\nTo see.",
		"CO<sub>2</sub> at <i>T</i>&nbsp;= 3&#160;K":                                "CO2 at T = 3 K",
		"for a<b and c>d, p < 0.05 & n<10":                                          "for a<b and c>d, p < 0.05 & n<10",
		"x<y":                                                                       "x<y",
		"half a tag <jats:p":                                                        "half a tag <jats:p",
		"&lt;p&gt;Twice &amp;lt;escaped&lt;/p&gt;":                                  "Twice <escaped",
		"Marine &amp;amp; Coastal":                                                  "Marine & Coastal",
		"a <xyz>tag</xyz> that nobody knows":                                        "a <xyz>tag</xyz> that nobody knows",
		"<p>One<br/>two</p><p>three</p>":                                            "One\ntwo\nthree",
		`<a href="https://a.example">link</a> and <script>alert("no")</script>text`:                                              "link and text",
		`<jats:alternatives><jats:tex-math>$$x$$</jats:tex-math><mml:math><mml:mi>x</mml:mi></mml:math></jats:alternatives> is`:  "x is",
		"10<sup>5</sup> m s<sup>-1</sup>, Ca<jats:sup>2+</jats:sup> <sup>13</sup>C":                                              "10^5 m s^-1, Ca^2+ 13C",
		"<mml:math><mml:msup><mml:mn>10</mml:mn><mml:mrow><mml:mo>-</mml:mo><mml:mn>5</mml:mn></mml:mrow></mml:msup></mml:math>": "10^-5",
		"<math><mfrac><mn>1</mn><mn>2</mn></mfrac><msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup></math>":                      "1/2x_i^2",
	} {
		if got := papers.Plain(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestNormal(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]papers.Paper{
		"RETRACTED: On tides":                         {Title: "On tides", Retracted: true},
		"Retracted Article: On tides":                 {Title: "On tides", Retracted: true},
		"[Retracted] On tides":                        {Title: "On tides", Retracted: true},
		"WITHDRAWN: On tides":                         {Title: "On tides", Retracted: true},
		"Retraction: On tides":                        {},
		"Retraction Note to: On tides":                {},
		"Withdrawal of antihypertensive drugs in age": {Title: "Withdrawal of antihypertensive drugs in age"},
		"Retraction of the lung: a review":            {Title: "Retraction of the lung: a review"},
		"Retracted-position walking of robots":        {Title: "Retracted-position walking of robots"},
		"A title of\n two lines.":                     {Title: "A title of two lines"},
		"Why wait...":                                 {Title: "Why wait..."},
		"":                                            {},
	} {
		want.Authors = []string{}
		if want.Title == "" {
			want.Authors = nil
		}
		got := papers.Normal(papers.Paper{Title: in})
		if in == "" {
			got.Authors = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", in, diff)
		}
	}
	p := papers.Normal(papers.Paper{Title: "A", Abstract: "ABSTRACT\nFirst  line of what was found in\tit.\n\n second.", URL: "javascript:alert(1)", PDF: "https://a.example/x y.pdf", Date: "2020-13-01", CitedBy: -1})
	if p.Abstract != "First line of what was found in it.\nsecond." || p.URL+p.PDF != "" || p.Date != "2020" || p.CitedBy != 0 {
		t.Errorf("%+v", p)
	}
	if p := papers.Normal(papers.Paper{Title: "A", Abstract: "No abstract available."}); p.Abstract != "" {
		t.Errorf("%q", p.Abstract)
	}
	if p := papers.Normal(papers.Paper{Title: "A", Abstract: strings.Repeat("die Gezeiten sind größer ", 2000)}); len(p.Abstract) > 12<<10 || len(p.Abstract) < 11<<10 || !utf8.ValidString(p.Abstract) {
		t.Errorf("%d bytes", len(p.Abstract))
	}
}

func TestParseQuery(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]papers.Query{
		"tidal turbines wake":                     {Terms: []string{"tidal", "turbines", "wake"}},
		`"graph neural network" tides 2020..2024`: {Terms: []string{"graph neural network", "tides"}, From: 2020, To: 2024},
		"2019.. wake wake":                        {Terms: []string{"wake"}, From: 2019},
		"wake ..1999":                             {Terms: []string{"wake"}, To: 1999},
		"wake 2024..2020":                         {Terms: []string{"wake"}, From: 2020, To: 2024},
		"wake .. 3..4":                            {Terms: []string{"wake", "3..4"}},
		"(tides AND title:moon) OR sun^2 -wind*":  {Terms: []string{"tides", "title", "moon", "sun", "2", "wind"}},
		"self-attention p53 GPT-4.1 O'Neill's":    {Terms: []string{"self-attention", "p53", "GPT-4.1", "O'Neill's"}},
		"“spring tides” 潮汐":                       {Terms: []string{"spring tides", "潮汐"}},
		" \"\" ?! ":                               {},
	} {
		want.Limit = 7
		if diff := cmp.Diff(want, papers.ParseQuery(in, 7)); diff != "" {
			t.Errorf("%q: %s", in, diff)
		}
	}
}

// TestQueryKey: queries with other years are different.
func TestQueryKey(t *testing.T) {
	t.Parallel()
	key := func(s string) string { return papers.ParseQuery(s, 5).Key() }
	if a, b := key(`Tidal "turbine wake" 2020..`), key("wake tidal turbine 2020.."); a != b || a == "" {
		t.Errorf("%q, %q", a, b)
	}
	seen := map[string]string{}
	for _, s := range []string{"tides", "tides 2020..", "tides ..2020", "tides 2020..2020", "tides 2020", "tides 2019..2020"} {
		if other, ok := seen[key(s)]; ok {
			t.Errorf("%q and %q are one query", s, other)
		}
		seen[key(s)] = s
	}
	if key("2020..2024") != "" || key("?!") != "" {
		t.Error("a query without words has a key")
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("<jats:p>a &lt; b</jats:p>")
	f.Add("<a<b<c <!-- <math><mi>")
	f.Fuzz(func(t *testing.T, s string) {
		got := papers.Plain(s)
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
		if !strings.ContainsAny(s, "<&") && bare(got) != bare(s) {
			t.Errorf("a text without markup changed: %q, was %q", got, s)
		}
	})
}

// bare returns a text without white space and control characters.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.IsSpace(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

func FuzzParseQuery(f *testing.F) {
	f.Add(`"a b" 2020..2024 c-d`)
	f.Fuzz(func(t *testing.T, s string) {
		q := papers.ParseQuery(s, 5)
		if len(q.Terms) > 20 {
			t.Errorf("%d terms", len(q.Terms))
		}
		for _, term := range q.Terms {
			if term == "" || len(term) > 100 || !utf8.ValidString(term) || strings.ContainsAny(term, `"():[]{}*?~^\/+&|!`) {
				t.Errorf("%q", term)
			}
		}
	})
}
