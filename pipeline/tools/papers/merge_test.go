package papers_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/tools/papers"
)

// fixtureAnswers returns the answers of the providers' fixtures, in the given order.
func fixtureAnswers(t testing.TB, names ...string) []papers.Answer {
	t.Helper()
	var answers []papers.Answer
	for _, name := range names {
		answers = append(answers, papers.Answer{Provider: name, Papers: decoded(t, name)})
	}
	return answers
}

// TestMergeFixtures: a work listed by several indexes is one paper with the best data of all.
func TestMergeFixtures(t *testing.T) {
	t.Parallel()
	merged := papers.Merge(fixtureAnswers(t, papers.Names()...))
	want := []papers.Paper{
		{
			Title: "Wake recovery behind rows of tidal turbines", Authors: []string{"Maria Ødegård", "John Okafor", "The Flume Group"},
			Abstract: "We measure how the wake behind three rows of tidal turbines recovers. At a spacing of 8 rotor diameters the velocity deficit is 0.20 ± 0.02 of the inflow (p < 0.01).\n" +
				"For H2O at 12 °C the Reynolds number is 3 × 10^5.",
			DOI: "10.1016/j.renene.2022.01.077", ArXiv: "2103.01234", Venue: "Renewable Energy", Date: "2022-03-01",
			URL: "https://doi.org/10.1016/j.renene.2022.01.077", PDF: "https://arxiv.org/pdf/2103.01234", CitedBy: 31, Kind: papers.KindArticle,
			ListedBy: []string{papers.ArXiv, papers.Crossref, papers.OpenAlex},
		},
		{
			Title: "Learning to place tidal turbines with graph networks", Authors: []string{"Li Wei", "Ana Sousa"},
			Abstract: "A graph network places turbines in a channel. It needs 40 simulations, a genetic algorithm 2,300; both reach 96% of the optimum.",
			DOI:      "10.5555/3618408.3619999", ArXiv: "2209.04567", Venue: "International Conference on Machine Learning", Date: "2023-07-23",
			URL: "https://doi.org/10.5555/3618408.3619999", PDF: "https://arxiv.org/pdf/2209.04567", CitedBy: 17, Kind: papers.KindConference,
			ListedBy: []string{papers.ArXiv, papers.OpenAlex, papers.SemanticScholar},
		},
		{
			Title:    "Harbour porpoises near tidal turbines: a two-year acoustic survey",
			Authors:  []string{"Douglas Gillespie", "Laura Palmer", "Sound of Islay Consortium"},
			Abstract: "Background\nPorpoises avoid operating turbines.\nResults\nOf 344 tracks in 451 days, 1 passed the rotor; detections fell by 78% (p<0.001) in a radius of 140 m.",
			DOI:      "10.1371/journal.pone.0240001", PMID: "33111222", PMCID: "PMC7654321", Venue: "PloS one", Date: "2020-10-14",
			URL: "https://doi.org/10.1371/journal.pone.0240001", PDF: "https://europepmc.org/articles/PMC7654321?pdf=render", CitedBy: 21, Kind: papers.KindArticle,
			ListedBy: []string{papers.EuropePMC, papers.SemanticScholar},
		},
	}
	if diff := cmp.Diff(want, merged[:3]); diff != "" {
		t.Error(diff)
	}
	var rest []string
	for _, p := range merged[3:] {
		rest = append(rest, p.Title)
	}
	if diff := cmp.Diff([]string{ // retracted ones last, although two indexes have one of them in the second and third place
		"Seals adapt to tidal turbines", "Tidal Channels: A Survey", "Extraction of 90% of tidal energy by resonant blades", "On an upper bound of tidal power",
	}, rest); diff != "" {
		t.Error(diff)
	}
}

// TestMergeIsDeterministic: the order of the answers does not matter.
func TestMergeIsDeterministic(t *testing.T) {
	t.Parallel()
	names := papers.Names()
	want := papers.Merge(fixtureAnswers(t, names...))
	for range 50 {
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		if diff := cmp.Diff(want, papers.Merge(fixtureAnswers(t, names...))); diff != "" {
			t.Fatalf("%v: %s", names, diff)
		}
	}
}

func TestMergeIdentity(t *testing.T) {
	t.Parallel()
	const title = "A survey of spring tides in estuaries"
	type P = papers.Paper
	by := func(p P, author string) P { p.Authors = []string{author}; return p }
	for _, tc := range []struct {
		name string
		a, b P
		same bool
	}{
		{"one DOI", P{Title: "A", DOI: "10.1234/x"}, P{Title: "B", DOI: "https://doi.org/10.1234/X"}, true},
		{"two DOIs", P{Title: title, DOI: "10.1234/x"}, P{Title: title, DOI: "10.1234/y"}, false},
		{"versions of one preprint", P{Title: "A", ArXiv: "2101.00001v1"}, P{Title: "B", ArXiv: "arXiv:2101.00001v3"}, true},
		{"arXiv's own DOI is its id", P{Title: "A", DOI: "10.48550/arXiv.2101.00001"}, P{Title: "B", ArXiv: "2101.00001"}, true},
		{"the preprint of a DOI", P{Title: "A", DOI: "10.1234/x", OtherDOIs: []string{"10.1101/p"}}, P{Title: "B", DOI: "10.1101/p"}, true},
		{"one id of PubMed", P{Title: "A", PMID: "123"}, P{Title: "B", PMID: "https://pubmed.ncbi.nlm.nih.gov/123/"}, true},
		{"title, author, year", by(P{Title: title, Date: "2020"}, "José Müller"), by(P{Title: "A Survey of Spring-Tides in Estuaries.", Date: "2021-02"}, "Muller, J."), true},
		{"preprint and article", by(P{Title: title, Date: "2020", Kind: papers.KindPreprint, DOI: "10.1101/p"}, "J. Müller"), by(P{Title: title, Date: "2021", DOI: "10.1234/x"}, "Jose Müller"), true},
		{"two articles of one title", by(P{Title: title, Date: "2020", DOI: "10.1234/y"}, "J. Müller"), by(P{Title: title, Date: "2021", DOI: "10.1234/x"}, "J. Müller"), false},
		{"two ids of arXiv", by(P{Title: title, Date: "2020", ArXiv: "2001.00001"}, "J. Müller"), by(P{Title: title, Date: "2020", ArXiv: "2001.00002"}, "J. Müller"), false},
		{"years apart", by(P{Title: title, Date: "2020"}, "J. Müller"), by(P{Title: title, Date: "2022"}, "J. Müller"), false},
		{"no year", by(P{Title: title, Date: "2020"}, "J. Müller"), by(P{Title: title}, "J. Müller"), false},
		{"another author", by(P{Title: title, Date: "2020"}, "J. Müller"), by(P{Title: title, Date: "2020"}, "J. Meyer"), false},
		{"no author", P{Title: title, Date: "2020"}, P{Title: title, Date: "2020"}, false},
		{"a title that says nothing", by(P{Title: "Editorial", Date: "2020"}, "J. Müller"), by(P{Title: "Editorial", Date: "2020"}, "J. Müller"), false},
		{"another number in the title", by(P{Title: title + " 1", Date: "2020"}, "J. Müller"), by(P{Title: title + " 2", Date: "2020"}, "J. Müller"), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			canonical := func(p P) P {
				doi, fromDOI, _, _ := papers.IDs(p.DOI)
				if p.DOI, p.ArXiv = doi, cmpOr(p.ArXiv, fromDOI); fromDOI != "" {
					p.DOI = ""
				}
				_, p.ArXiv, _, _ = papers.IDs(p.ArXiv)
				_, _, p.PMID, _ = papers.IDs(p.PMID)
				return papers.Normal(p)
			}
			a, b := canonical(tc.a), canonical(tc.b)
			got := papers.Merge([]papers.Answer{{Provider: papers.Crossref, Papers: []P{a}}, {Provider: papers.OpenAlex, Papers: []P{b}}})
			if (len(got) == 1) != tc.same {
				t.Errorf("%d papers: %+v", len(got), got)
			}
			turned := papers.Merge([]papers.Answer{{Provider: papers.OpenAlex, Papers: []P{b}}, {Provider: papers.Crossref, Papers: []P{a}}})
			if diff := cmp.Diff(got, turned); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// TestMergeKeepsArticlesApart: a preprint that resembles two articles is merged with one of them and does not merge
// both.
func TestMergeKeepsArticlesApart(t *testing.T) {
	t.Parallel()
	paper := func(doi, kind string) papers.Paper {
		return papers.Paper{Title: "A survey of spring tides", Authors: []string{"J. Müller"}, Date: "2020", DOI: doi, Kind: kind}
	}
	got := papers.Merge([]papers.Answer{
		{Provider: papers.Crossref, Papers: []papers.Paper{paper("10.1234/x", papers.KindArticle), paper("10.1234/y", papers.KindArticle)}},
		{Provider: papers.EuropePMC, Papers: []papers.Paper{paper("10.1101/p", papers.KindPreprint)}},
	})
	if len(got) != 2 || got[0].DOI != "10.1234/x" || !slices.Equal(got[0].OtherDOIs, []string{"10.1101/p"}) || got[1].DOI != "10.1234/y" {
		t.Errorf("%+v", got)
	}
}

// TestMergeAbstract: the abstract is that of the cited version.
func TestMergeAbstract(t *testing.T) {
	t.Parallel()
	long, short, other := strings.Repeat("The preprint says this. ", 30), strings.Repeat("The article says that. ", 20), strings.Repeat("An index says that. ", 22)
	paper := func(kind, abstract string) []papers.Paper {
		return []papers.Paper{{Title: "A", DOI: "10.1234/x", Kind: kind, Abstract: abstract}}
	}
	for _, tc := range []struct {
		name    string
		answers []papers.Answer
		want    string
	}{
		{"the article's", []papers.Answer{{Provider: papers.ArXiv, Papers: paper(papers.KindPreprint, long)}, {Provider: papers.OpenAlex, Papers: paper(papers.KindArticle, short)}}, short},
		{"the preprint's where there is no other", []papers.Answer{{Provider: papers.ArXiv, Papers: paper(papers.KindPreprint, long)}, {Provider: papers.OpenAlex, Papers: paper(papers.KindArticle, "")}}, long},
		{"the publisher's of two that are about as long", []papers.Answer{{Provider: papers.OpenAlex, Papers: paper(papers.KindArticle, other)}, {Provider: papers.Crossref, Papers: paper(papers.KindArticle, short)}}, short},
		{"the whole one", []papers.Answer{{Provider: papers.OpenAlex, Papers: paper(papers.KindArticle, other)}, {Provider: papers.Crossref, Papers: paper(papers.KindArticle, short[:100])}}, other},
	} {
		if got := papers.Merge(tc.answers); len(got) != 1 || got[0].Abstract != tc.want {
			t.Errorf("%s: %+v", tc.name, got)
		}
	}
}

func TestMergeRank(t *testing.T) {
	t.Parallel()
	list := func(titles ...string) (out []papers.Paper) {
		for _, title := range titles {
			p := papers.Paper{Title: title, DOI: "10.1234/" + strings.ToLower(title)}
			if p.Retracted = strings.HasPrefix(title, "R"); p.Retracted {
				p.Title = title[1:]
			}
			out = append(out, p)
		}
		return out
	}
	got := papers.Merge([]papers.Answer{
		{Provider: papers.Crossref, Papers: list("RX", "A", "B", "C")},
		{Provider: papers.OpenAlex, Papers: list("RX", "D", "C", "C", "C")}, // what is listed again gains nothing
		{Provider: papers.EuropePMC, Papers: list("C")},
		{Provider: papers.ArXiv},
	})
	var order string
	for _, p := range got {
		order += p.Title
	}
	if order != "CADBX" {
		t.Errorf("order %s", order)
	}
	if papers.Merge(nil) == nil || len(papers.Merge([]papers.Answer{{Provider: papers.ArXiv}})) != 0 {
		t.Error("no answer at all")
	}
}
