package extract_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge/extract"
)

// The pages of testdata/layouts are made as publishing systems make them, with places for texts: {{M}} a paragraph of
// the article, {{m}} a short text of it, {{B}} a sentence of what surrounds it, {{b}} a label or link there, {{C}} a
// comment.
var place = regexp.MustCompile(`\{\{([MmBbC])\}\}`)

// fills are texts for the places; %s is a mark by which each is found again.
var fills = map[string][]string{
	"M": {
		"The pump took heat from the air at minus seven degrees, and the meter %s counted 2.4 units of heat for each unit of electricity. Nobody had expected more from a machine of that age, least of all the engineers who had built it.",
		"In the second winter the house was insulated, which changed the picture: the flow temperature fell to 38 degrees, the compressor %s ran for longer stretches, and the annual figure rose from 2.9 to 3.6, as the table shows.",
		"Ice forms on the outdoor unit when moist air meets cold fins. A reversed cycle %s melts it within four minutes, at the price of some heat from the house; on dry days in January it ran twice, on wet ones eleven times.",
		"The grid operator counted 41,000 new connections in that year (one in three of them in old buildings), and the peak of demand %s moved from six to seven in the evening without growing.",
	},
	"m": {"the ratio %s falls with the outdoor temperature", "a flow temperature of 38 degrees %s is enough", "measured %s over two winters"},
	"B": {
		"Get the best stories of the week %s in your inbox every Friday, free of charge, and cancel whenever you like.",
		"We and our partners use cookies %s to measure audiences and to show content that fits you better.",
		"She has written about cities and machines %s for fifteen years and lives near the sea.",
		"How three villages %s gave up oil, and what their neighbours now want to know.",
		"All rights reserved %s; prices include tax where it applies.",
	},
	"b": {"Share %s", "More on energy %s", "Ten houses that need no heating %s", "Sign up %s", "Our shop %s"},
	"C": {
		"I have had mine for six years %s and it has never been loud, whatever they say about it.",
		"That table is wrong, my own meter shows less %s, and I wonder whether the installer ever looked at the curve. Did anyone else compare? Ours was set to sixty degrees, which explains a lot.",
		"Great article, thanks! %s",
	},
}

// kept counts what of a set of layouts is in the text, by kind of place.
type kept struct{ planted, found map[string]int }

func (k kept) share(kinds string) float64 {
	planted, found := 0, 0
	for _, kind := range kinds {
		planted += k.planted[string(kind)]
		found += k.found[string(kind)]
	}
	return float64(found) / float64(planted)
}

// measureLayouts fills and extracts the pages of a set.
func measureLayouts(t *testing.T, set string) kept {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "layouts", set, "*.html"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%d layouts, %v", len(files), err)
	}
	all := kept{map[string]int{}, map[string]int{}}
	for _, file := range files {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		type planted struct{ kind, mark string }
		var marks []planted
		filled := place.ReplaceAllStringFunc(string(page), func(p string) string {
			kind := p[2:3]
			mark := fmt.Sprintf("qx%03dz", len(marks))
			marks = append(marks, planted{kind, mark})
			return fmt.Sprintf(fills[kind][len(marks)%len(fills[kind])], mark)
		})
		doc, err := extract.File(t.Context(), "a.html", []byte(filled))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		text := doc.Text
		for _, s := range doc.Sections {
			text += " " + strings.Join(s.Path, " ")
		}
		var through, lost []string
		for _, m := range marks {
			all.planted[m.kind]++
			found := strings.Contains(text, m.mark)
			if found {
				all.found[m.kind]++
			}
			main := strings.EqualFold(m.kind, "m")
			if at := strings.Index(filled, m.mark); found && !main {
				through = append(through, filled[max(0, at-90):at])
			} else if !found && main {
				lost = append(lost, filled[max(0, at-90):at])
			}
		}
		t.Logf("%s: %d of %d places\n  through: %q\n  lost: %q", filepath.Base(file), len(through), len(marks), through, lost)
	}
	t.Logf("set %s: article %.3f, boilerplate %.3f (sentences %.3f, labels %.3f), comments %.3f", set,
		all.share("Mm"), all.share("Bb"), all.share("B"), all.share("b"), all.share("C"))
	return all
}

// The rules for what surrounds an article were found with the layouts of set a and are judged by those of set b. Shares
// of what is planted: of the article that is kept, of what surrounds it and of comments that get through.
func TestLayouts(t *testing.T) {
	t.Parallel()
	for set, most := range map[string]float64{"a": 0.05, "b": 0.15} {
		k := measureLayouts(t, set)
		if k.share("Mm") < 0.995 || k.share("Bb") > most || k.share("C") > 0.05 {
			t.Errorf("set %s: article %.3f, boilerplate %.3f, comments %.3f; want at least 0.995, at most %.2f and 0.05",
				set, k.share("Mm"), k.share("Bb"), k.share("C"), most)
		}
	}
}

// What looks like furniture by its names and is the text of a page.
func TestTextWithNamesOfFurniture(t *testing.T) {
	t.Parallel()
	const sentence = "The pump took heat from the air at minus seven degrees, and the meter counted twice as much heat as electricity. "
	long := "<p>" + strings.Repeat(sentence, 4) + "</p>"
	for name, tc := range map[string]struct{ page, want string }{
		"paragraphs for subscribers":  {`<article>` + strings.Repeat(`<p class="paywall">`+strings.Repeat(sentence, 2)+`</p>`, 5) + `<p class="paywall">kept</p></article>`, "kept"},
		"a wrapper with a sidebar":    {`<div class="with-sidebar page-sidebar"><h1>T</h1>` + long + `<p>kept</p></div>`, "kept"},
		"a section about cookies":     {`<main>` + long + `<div id="cookies"><h2>Cookies</h2><p>kept</p></div></main>`, "kept"},
		"a note named by its title":   {`<main>` + long + `<div class="admonition-sharing-responses admonition"><p>kept</p></div></main>`, "kept"},
		"a heading that leads abroad": {`<main>` + long + `<div class="section"><h3><a href="https://pypy.org/">PyPy</a></h3><p>kept</p><p>More of it.</p></div></main>`, "kept"},
		"a section about comments":    {`<main>` + long + `<section id="comments"><h3>Comments</h3><p>kept</p></section></main>`, "kept"},
		"a page of teasers":           {`<main><h1>All</h1><div class="teaser"><h2><a href="/1">One</a></h2><p>kept</p></div><div class="teaser"><h2><a href="/2">Two</a></h2></div></main>`, "kept"},
		"a discussion":                {`<main><h1>Who knows?</h1><div class="comment">` + long + `<p>kept</p></div></main>`, "kept"},
		"a comment in code":           {`<main>` + long + `<pre><span class="comment"># kept</span></pre></main>`, "# kept"},
	} {
		doc, err := extract.File(t.Context(), "a.html", []byte("<html><body>"+tc.page+"</body></html>"))
		if err != nil || !strings.Contains(doc.Text, tc.want) {
			t.Errorf("%s: %v, %q", name, err, doc.Text)
		}
	}
}
