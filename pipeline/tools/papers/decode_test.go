package papers_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/tools/papers"
)

// fixtures are documented answers of the providers.
var fixtures = map[string]string{
	papers.ArXiv: "arxiv.xml", papers.Crossref: "crossref.json", papers.EuropePMC: "europepmc.json",
	papers.OpenAlex: "openalex.json", papers.SemanticScholar: "semanticscholar.json",
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// decoded returns the papers of a provider's fixture.
func decoded(t testing.TB, name string) []papers.Paper {
	t.Helper()
	found, err := papers.Decoders[name](fixture(t, fixtures[name]))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range found {
		found[i] = papers.Normal(p)
	}
	return found
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]papers.Paper{
		papers.ArXiv: {
			{
				Title: "Wake recovery behind rows of tidal turbines", Authors: []string{"Maria Ødegård", "J. Okafor"},
				Abstract: `We measure the recovery of the wake behind three rows of tidal turbines in a flume of 18 m. At a spacing of 8 rotor diameters the velocity deficit is $0.21 \pm 0.02$, and for $x<4D$ it grows with turbulence intensity.`,
				DOI:      "10.1016/j.renene.2022.01.077", ArXiv: "2103.01234", Venue: "Renewable Energy 187 (2022) 77-91", Date: "2021-03-02",
				URL: "https://doi.org/10.1016/j.renene.2022.01.077", PDF: "https://arxiv.org/pdf/2103.01234v2", Kind: papers.KindArticle,
			},
			{
				Title: "Learning to place tidal turbines with graph networks", Authors: []string{"Li Wei"},
				Abstract: "A graph network places turbines in a channel. It needs 40 simulations where a genetic algorithm needs 2,300.",
				ArXiv:    "2209.04567", Venue: "arXiv", Date: "2022-09-09", URL: "https://arxiv.org/abs/2209.04567",
				PDF: "https://arxiv.org/pdf/2209.04567v1", Kind: papers.KindPreprint,
			},
			{
				Title: "On an upper bound of tidal power", Authors: []string{"A. N. Other"},
				Abstract: "This paper has been withdrawn by the author, due to a crucial sign error in equation 1.",
				ArXiv:    "physics/0309136", Venue: "arXiv", Date: "2003-09-30", URL: "https://arxiv.org/abs/physics/0309136",
				Kind: papers.KindPreprint, Retracted: true,
			},
		},
		papers.OpenAlex: {
			{
				Title: "Wake recovery behind rows of tidal turbines", Authors: []string{"Maria Ødegård", "John Okafor"},
				Abstract: "The wake behind tidal turbines recovers; the the wake is short.",
				DOI:      "10.1016/j.renene.2022.01.077", ArXiv: "2103.01234", Venue: "Renewable Energy", Date: "2022-03-01",
				URL: "https://doi.org/10.1016/j.renene.2022.01.077", PDF: "https://arxiv.org/pdf/2103.01234", CitedBy: 31, Kind: papers.KindArticle,
			},
			{
				Title: "Learning to place tidal turbines with graph networks", Authors: []string{"Li Wei"}, ArXiv: "2209.04567",
				Venue: "arXiv (Cornell University)", Date: "2022-09-09", URL: "https://arxiv.org/abs/2209.04567", CitedBy: 4, Kind: papers.KindPreprint,
			},
			{
				Title: "Extraction of 90% of tidal energy by resonant blades", Authors: []string{"R. Nogood"},
				Abstract: "Resonant blades extract 90% of all tidal energy.", DOI: "10.1177/0309524x19849831", PMID: "29456894", PMCID: "PMC5815332",
				Venue: "Wind Engineering", Date: "2019-05-20", URL: "https://doi.org/10.1177/0309524x19849831", CitedBy: 12,
				Kind: papers.KindArticle, Retracted: true,
			},
		},
		papers.Crossref: {
			{
				Title: "Wake recovery behind rows of tidal turbines", Authors: []string{"Maria Ødegård", "John Okafor", "The Flume Group"},
				Abstract: "We measure how the wake behind three rows of tidal turbines recovers. At a spacing of 8 rotor diameters the velocity deficit is 0.20 ± 0.02 of the inflow (p < 0.01).\n" +
					"For H2O at 12 °C the Reynolds number is 3 × 10^5.",
				DOI: "10.1016/j.renene.2022.01.077", ArXiv: "2103.01234", Venue: "Renewable Energy", Date: "2022-03",
				URL: "https://doi.org/10.1016/j.renene.2022.01.077", CitedBy: 27, Kind: papers.KindArticle,
			},
			{
				Title: "Extraction of 90% of tidal energy by resonant blades", Authors: []string{"R. Nogood"}, DOI: "10.1177/0309524x19849831",
				Venue: "Wind Engineering", Date: "2019-05-20", URL: "https://doi.org/10.1177/0309524x19849831", CitedBy: 11,
				Kind: papers.KindArticle, Retracted: true,
			},
			{
				Title: "Tidal Channels: A Survey", Authors: []string{"Anna van der Meer"}, DOI: "10.1002/(sici)1097-0363(19960815)23:3<289::aid-fld421>3.0.co;2-6",
				Venue: "Handbook of Marine & Coastal Flows", Date: "1996-08-15", CitedBy: 3, Kind: papers.KindChapter,
				URL: "https://doi.org/10.1002/%28sici%291097-0363%2819960815%2923:3%3C289::aid-fld421%3E3.0.co;2-6",
			},
		},
		papers.EuropePMC: {
			{
				Title:    "Harbour porpoises near tidal turbines: a two-year acoustic survey",
				Authors:  []string{"Douglas Gillespie", "Laura Palmer", "Sound of Islay Consortium"},
				Abstract: "Background\nPorpoises avoid operating turbines.\nResults\nOf 344 tracks in 451 days, 1 passed the rotor; detections fell by 78% (p<0.001) in a radius of 140 m.",
				DOI:      "10.1371/journal.pone.0240001", PMID: "33111222", PMCID: "PMC7654321", Venue: "PloS one", Date: "2020-10-14",
				URL: "https://doi.org/10.1371/journal.pone.0240001", PDF: "https://europepmc.org/articles/PMC7654321?pdf=render", CitedBy: 19, Kind: papers.KindArticle,
			},
			{
				Title: "Seals adapt to tidal turbines", Authors: []string{"Onoufriou J"},
				Abstract: "Harbour seals were tracked over three years near an array of four tidal turbines.", DOI: "10.1101/2021.05.05.442800",
				Venue: "bioRxiv", Date: "2021-05-06", URL: "https://doi.org/10.1101/2021.05.05.442800", Kind: papers.KindPreprint,
			},
		},
		papers.SemanticScholar: {
			{
				Title: "Learning to place tidal turbines with graph networks", Authors: []string{"Li Wei", "Ana Sousa"},
				Abstract: "A graph network places turbines in a channel. It needs 40 simulations, a genetic algorithm 2,300; both reach 96% of the optimum.",
				DOI:      "10.5555/3618408.3619999", ArXiv: "2209.04567", Venue: "International Conference on Machine Learning", Date: "2023-07-23",
				URL: "https://doi.org/10.5555/3618408.3619999", CitedBy: 17, Kind: papers.KindConference,
			},
			{
				Title: "Harbour porpoises near tidal turbines: a two-year acoustic survey", Authors: []string{"D. Gillespie"}, PMID: "33111222", PMCID: "PMC7654321",
				Venue: "PLoS ONE", Date: "2020", URL: "https://pubmed.ncbi.nlm.nih.gov/33111222/", CitedBy: 21, Kind: papers.KindArticle,
				PDF: "https://journals.plos.org/plosone/article/file?id=10.1371/journal.pone.0240001&type=printable",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, decoded(t, name)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDecodeRefuses: an answer in another format is an error, not an empty list.
func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for name, decode := range papers.Decoders {
		whole := fixture(t, fixtures[name])
		for what, body := range map[string][]byte{
			"nothing": nil, "HTML": []byte("<!DOCTYPE html><html><body><h1>Service</h1></body></html>"), "half": whole[:len(whole)/2],
			"another object": []byte(`{"error": "Rate limit exceeded"}`), "a list": []byte(`[]`), "null": []byte("null"), "another feed": []byte("<rss></rss>"),
		} {
			if found, err := decode(body); !errors.Is(err, papers.ErrFormat) || found != nil {
				t.Errorf("%s, %s: %v, %v", name, what, found, err)
			}
		}
	}
	if _, err := papers.Decoders[papers.ArXiv](fixture(t, "arxiv_error.xml")); !errors.Is(err, papers.ErrQuery) {
		t.Errorf("arXiv's error: %v", err)
	}
	for name, body := range map[string]string{
		papers.Crossref: `{"message": {"items": [{"title": "not a list"}, {"title": ["A work"], "type": "report", "DOI": "10.1234/X"}]}}`,
		papers.OpenAlex: `{"results": [{"title": 7}, {"title": "A work", "type": "report"}]}`,
	} {
		if found, err := papers.Decoders[name]([]byte(body)); err != nil || len(found) != 1 || found[0].Title != "A work" {
			t.Errorf("%s, one broken entry of two: %v, %v", name, found, err)
		}
	}
	for name, body := range map[string]string{
		papers.Crossref: `{"message": {"items": []}}`, papers.OpenAlex: `{"results": []}`, papers.SemanticScholar: `{"total": 0, "offset": 0}`,
		papers.EuropePMC: `{"hitCount": 0, "resultList": {"result": []}}`, papers.ArXiv: string(fixture(t, "arxiv_empty.xml")),
	} {
		if found, err := papers.Decoders[name]([]byte(body)); err != nil || len(found) != 0 {
			t.Errorf("%s, nothing found: %v, %v", name, found, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, name := range papers.Names() {
		f.Add(name, fixture(f, fixtures[name]))
	}
	f.Add(papers.OpenAlex, []byte(`{"results":[{"title":"a","abstract_inverted_index":{"x":[-1,99999999999],"y":[0,0],"z":[0]}}]}`))
	f.Add(papers.Crossref, []byte(`{"message":{"items":[{"title":["<jats:p>a<b & c>d"],"type":"book","abstract":"<jats:tex-math>x<","issued":{"date-parts":[[-5,99]]}}]}}`))
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		decode := papers.Decoders[name]
		if decode == nil {
			return
		}
		found, err := decode(body)
		if err != nil {
			return
		}
		for _, p := range found {
			p = papers.Normal(p)
			for _, s := range append([]string{p.Title, p.Abstract, p.Venue, p.Date, p.URL, p.PDF, p.DOI, p.ArXiv}, p.Authors...) {
				if !utf8.ValidString(s) {
					t.Errorf("not UTF-8: %q", s)
				}
			}
			if strings.ContainsAny(p.Title+p.Venue+p.URL+p.PDF, "\n\r\t") {
				t.Errorf("more than one line: %+v", p)
			}
			if p.URL != "" && !strings.HasPrefix(p.URL, "https://") && !strings.HasPrefix(p.URL, "http://") {
				t.Errorf("no address of the web: %q", p.URL)
			}
		}
		if merged := papers.Merge([]papers.Answer{{Provider: name, Papers: found}}); len(merged) > len(found) {
			t.Errorf("%d papers of %d", len(merged), len(found))
		}
	})
}
