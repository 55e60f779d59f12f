package papers_test

import (
	"strings"
	"testing"
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
	p := papers.Normal(papers.Paper{Title: "A", Abstract: "ABSTRACT\nFirst  line of what was found in\tit.\n\n second.", URL: "javascript:alert(1)", PDF: "ftp://a.example/x.pdf", Date: "2020-13-01", CitedBy: -1})
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
