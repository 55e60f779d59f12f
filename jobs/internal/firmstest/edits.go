package firmstest

import (
	"fmt"
	"slices"
	"strings"
)

// Finding is a change that must be reported after an edit.
type Finding struct {
	Kind string   // new, changed, withdrawn; moved: now on another page, new to readers who have not seen the old one
	Old  []string // parts of the earlier quote, for changed and withdrawn
	New  []string // parts of the new quote, for new and changed
}

// Edit is a change to a firm's pages between two nights.
type Edit struct {
	Name  string
	Do    func(*Firm)
	Want  func(*Firm) []Finding // called after Do; nil: no findings
	Moves bool                  // facts appear in other or additional places, so their citations change
	Local bool                  // also applicable to files in a directory
}

func changed(old, now string) Finding {
	return Finding{Kind: "changed", Old: []string{old}, New: []string{now}}
}
func fresh(parts ...string) Finding     { return Finding{Kind: "new", New: parts} }
func moved(parts ...string) Finding     { return Finding{Kind: "moved", New: parts} }
func withdrawn(parts ...string) Finding { return Finding{Kind: "withdrawn", Old: parts} }

// always returns the same findings, where %s is replaced by the firm's name.
func always(findings ...Finding) func(*Firm) []Finding {
	return func(f *Firm) []Finding {
		list := make([]Finding, len(findings))
		named := func(parts []string) (out []string) {
			for _, part := range parts {
				out = append(out, strings.ReplaceAll(part, "%s", f.Name))
			}
			return out
		}
		for i, found := range findings {
			list[i] = Finding{found.Kind, named(found.Old), named(found.New)}
		}
		return list
	}
}

// of returns a finding for each sentence.
func of(kind func(...string) Finding, sentences ...string) (list []Finding) {
	for _, s := range sentences {
		list = append(list, kind(s))
	}
	return list
}

// swap replaces text in a sentence, and panics if the text is missing.
func swap(sentence *string, old, now string) {
	if !strings.Contains(*sentence, old) {
		panic(fmt.Sprintf("%q is not in %q", old, *sentence))
	}
	*sentence = strings.Replace(*sentence, old, now, 1)
}

// Edits returns the possible edits. Each firm gets one of them.
func Edits() []Edit { return slices.Concat(contentEdits(), pageEdits(), wordingEdits()) }

// contentEdits change the facts of a page.
func contentEdits() []Edit {
	return []Edit{
		{Name: "nothing", Do: func(*Firm) {}, Local: true},
		{Name: "number in a table", Local: true, Do: func(f *Firm) {
			f.Table[1].Price = "€399"
		}, Want: func(f *Firm) []Finding {
			return []Finding{{Kind: "changed", Old: []string{f.Table[1].Model}, New: []string{f.Table[1].Model, "399"}}}
		}},
		{Name: "row of a table added", Local: true, Do: func(f *Firm) {
			f.Table = append(f.Table, Product{"QX-50 Polar", "€3141", "5200 g", "36 months"})
		}, Want: always(fresh("QX-50 Polar", "3141"))},
		{Name: "number in prose", Local: true, Do: func(f *Firm) { f.Operations[0] = f.Name + " employs 5,131 people." },
			Want: always(Finding{"changed", []string{"%s employs"}, []string{"5,131"}})},
		{Name: "number in an answer", Local: true, Do: func(f *Firm) {
			f.Answers[0][1] = "Repairs at " + f.Name + " take 9 working days on average."
		},
			Want: always(Finding{"changed", []string{"Repairs at"}, []string{"9 working days"}})},
		{Name: "number in a listing", Do: func(f *Firm) {
			f.Items[1][1] = "249"
		}, Want: always(Finding{"changed", []string{"R2 refurbished"}, []string{"249"}})},
		{Name: "number on a page that is never the same", Do: func(f *Firm) {
			f.LiveLines[0] = "The plant of " + f.Name + " can make 9,950 units a day."
		},
			Want: always(Finding{"changed", []string{"units a day"}, []string{"9,950"}})},
		{Name: "date moved", Local: true, Do: func(f *Firm) { swap(&f.NewsLines[0], "12 May 2026", "3 September 2026") },
			Want: always(changed("12 May 2026", "3 September 2026"))},
		{Name: "name replaced", Local: true, Do: func(f *Firm) {
			f.Operations[1] = "The chief executive of " + f.Name + " is Iris Quent."
		},
			Want: always(Finding{"changed", []string{"chief executive"}, []string{"Iris Quent"}})},
		{Name: "sentence negated", Local: true, Do: func(f *Firm) { swap(&f.Operations[5], "are open", "are not open") },
			Want: always(changed("are open to visitors", "are not open to visitors"))},
		{Name: "item of a list added", Local: true, Do: func(f *Firm) {
			f.Sites = append(f.Sites, "Penzance: shipyard with 870 welders")
		}, Want: always(fresh("Penzance"))},
		{Name: "item of a list removed", Local: true, Do: func(f *Firm) {
			f.Sites = f.Sites[:2]
		}, Want: always(withdrawn("training centre"))},
		{Name: "release added", Local: true, Do: func(f *Firm) {
			f.Releases = append([]Release{{"4.3", "1 March 2026",
				[]string{"The firmware of " + f.Name + " now measures 77 quantities at once."}}}, f.Releases...)
		}, Want: always(fresh("77 quantities"))},
		{Name: "post added", Do: func(f *Firm) {
			f.Posts = append(f.Posts, [2]string{"newcomer", "The workshop of " + f.Name + " repaired my device within 19 days."})
		}, Want: always(fresh("within 19 days"))},
		{Name: "fact gone from a page that stays", Local: true, Do: func(f *Firm) {
			f.AboutLines = f.AboutLines[:1]
		}, Want: always(withdrawn("scholarships"))},
	}
}

// pageEdits add, move and remove pages.
func pageEdits() []Edit {
	return []Edit{
		{Name: "page gone, 404", Do: func(f *Firm) { f.Page(Questions).State = "404" }, Want: func(f *Firm) []Finding {
			return of(withdrawn, f.Answers[0][1], f.Answers[1][1], f.Answers[2][1])
		}, Local: true},
		{Name: "page gone, 410", Do: func(f *Firm) {
			f.Page(Live).State = "410"
		}, Want: func(f *Firm) []Finding { return of(withdrawn, f.LiveLines...) }},
		{Name: "page gone, soft 404", Do: func(f *Firm) {
			f.Page(Questions).State = "soft 404"
		}, Want: func(f *Firm) []Finding {
			return of(withdrawn, f.Answers[0][1], f.Answers[1][1], f.Answers[2][1])
		}},
		{Name: "new page, one new fact", Local: true, Do: func(f *Firm) {
			f.add("visit", f.Name+" is visited by the minister", f.Operations[0], "The minister promised "+f.Name+
				" a grant of 8,080 thousand euros.", f.Answers[0][1])
		}, Want: always(fresh("8,080 thousand"))},
		{Name: "new page, old facts", Local: true, Do: func(f *Firm) {
			f.add("portrait", "Portrait of "+f.Name, f.Operations[0], f.Answers[0][1], f.History[0])
		}},
		{Name: "new page, old facts in other words", Local: true, Do: func(f *Firm) {
			f.add("sketch", "Sketch of "+f.Name, strings.Replace(f.Operations[0], " employs ", " now employs ", 1),
				"On average, "+strings.ToLower(f.Answers[0][1][:1])+strings.Replace(f.Answers[0][1][1:], " on average.", ".", 1))
		}, Moves: true},
		{Name: "page gone, its facts elsewhere", Do: func(f *Firm) {
			f.add("answers", f.Name+" answers", f.Answers[0][1], f.Answers[1][1], f.Answers[2][1])
			f.Page(Questions).State = "404"
		}, Local: true, Moves: true},
		{Name: "page merged into another, 301", Do: func(f *Firm) {
			f.AboutLines = append(f.AboutLines, f.LiveLines...)
			f.Pages = slices.DeleteFunc(f.Pages, func(p *Page) bool { return p.Kind == Live })
			f.Page(About).OldPath = Live
		}, Want: func(f *Firm) []Finding { return of(moved, f.LiveLines...) }, Moves: true},
		{Name: "page moved, 301", Do: func(f *Firm) { p := f.Page(Questions); p.OldPath, p.Path = p.Path, "help/faq" }},
		{Name: "page away for a night, 503", Do: func(f *Firm) { f.Page(Questions).State = "503" }},
		{Name: "page behind a login, redirected", Do: func(f *Firm) { f.Page(News).State = "login" }},
		{Name: "page behind a login, in its place", Do: func(f *Firm) { f.Page(News).State = "wall" }},
		{Name: "page forbidden to robots", Do: func(f *Firm) { f.Page(Live).State = "robots" }},
	}
}

// wordingEdits change the form of a page, or facts in further ways.
func wordingEdits() []Edit {
	return []Edit{
		{Name: "sections in another order", Local: true, Do: func(f *Firm) { f.Page(Article).Shuffle = true }},
		{Name: "rows in another order", Local: true, Do: func(f *Firm) { f.Page(Products).Shuffle = true }},
		{Name: "typing error mended", Local: true, Do: func(f *Firm) { swap(&f.Operations[4], "recieves", "receives") }},
		{Name: "number written otherwise", Local: true, Do: func(f *Firm) {
			f.Operations[2] = strings.Replace(f.Operations[2], ",", "", 1)
		}},
		{Name: "unit converted", Local: true, Do: func(f *Firm) { swap(&f.Operations[3], "1.2 km", "1,200 m") }},
		{Name: "title of the page", Local: true, Do: func(f *Firm) {
			f.Page(Article).Title = f.Name + " | The Free Compendium"
		}},
		{Name: "number in a list", Local: true, Do: func(f *Firm) {
			f.Sites[0] = strings.Split(f.Sites[0], ":")[0] + ": foundry with 990 workers"
		},
			Want: always(Finding{"changed", []string{"foundry with"}, []string{"990 workers"}})},
		{Name: "row of a table removed", Local: true, Do: func(f *Firm) {
			f.Table = f.Table[:3]
		}, Want: always(withdrawn("-40 Workshop"))},
		{Name: "guarantee in a table", Local: true, Do: func(f *Firm) { f.Table[2].Guarantee = "60 months" },
			Want: always(Finding{"changed", []string{"-30 Marine"}, []string{"-30 Marine", "60 months"}})},
		{Name: "number in words", Local: true, Do: func(f *Firm) {
			swap(&f.History[0], "by two brothers", "by three brothers")
		},
			Want: always(changed("by two brothers", "by three brothers"))},
		{Name: "two facts of one page", Local: true, Do: func(f *Firm) {
			f.PressLines[0] = f.Name + " today announced a revenue of 999 million euros for 2025."
			f.PressLines[3] = f.Name + " spent 77 million euros on research."
		}, Want: always(Finding{"changed", []string{"revenue of"}, []string{"999 million"}},
			Finding{"changed", []string{"on research"}, []string{"77 million"}})},
		{Name: "one fact on two pages", Do: func(f *Firm) {
			f.Posts[1][1] = "The helpline of " + f.Name + " answered me after 3 minutes."
			f.AboutLines = append(f.AboutLines, f.Posts[1][1])
		}, Want: always(Finding{"changed", []string{"helpline"}, []string{"3 minutes"}})},
		{Name: "fact moved from page to page", Do: func(f *Firm) {
			f.NewsLines = append(f.NewsLines, f.AboutLines[1])
			f.AboutLines = f.AboutLines[:1]
		}, Want: func(f *Firm) []Finding { return of(moved, f.NewsLines[:3]...) }, Moves: true},
		{Name: "question in other words", Local: true, Do: func(f *Firm) {
			f.Answers[0][0] = "How many days does a repair last?"
		}},
		{Name: "release withdrawn", Local: true, Do: func(f *Firm) {
			f.Releases = f.Releases[1:]
		}, Want: always(withdrawn("milliseconds"), withdrawn("Fixes a crash"))},
		{Name: "name replaced in a quotation", Local: true, Do: func(f *Firm) {
			f.PressLines[2] = "“We are pleased with the result,” said Jonas Ekeby, head of finance of " + f.Name + "."
		},
			Want: always(Finding{"changed", []string{"head of finance"}, []string{"Jonas Ekeby"}})},
		{Name: "expected, then done", Local: true, Do: func(f *Firm) {
			swap(&f.NewsLines[0], "will open its second plant", "has cancelled its second plant")
		},
			Want: always(Finding{"changed", []string{"will open"}, []string{"has cancelled"}})},
		{Name: "abbreviated", Local: true, Do: func(f *Firm) { swap(&f.NewsLines[2], " thousand euros", ",000 euros") }},
		{Name: "words between the words", Local: true, Do: func(f *Firm) {
			f.Operations[2] = strings.Replace(f.Operations[2], "Its main hall covers", "Its large main hall covers", 1)
		}, Want: always(changed("Its main hall", "Its large main hall"))},
		{Name: "percentage added to a sentence", Local: true, Do: func(f *Firm) {
			f.PressLines[3] = strings.TrimSuffix(f.PressLines[3], ".") + ", an increase of 12 percent."
		}, Want: always(Finding{"changed", []string{"on research"}, []string{"12 percent"}})},
		{Name: "page empty for a night", Do: func(f *Firm) { f.Page(Questions).State = "empty" }},
		{Name: "consent asked for in its place", Do: func(f *Firm) { f.Page(Forum).State = "consent" }},
	}
}
