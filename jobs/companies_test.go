package jobs_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"nightdesk/jobs"
	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/researching"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// companyForm is the wording of files about companies. %[1]s is the name of a company, %[2]d a number specific to it.
type companyForm struct {
	topic, file string

	revenue, lawsuit, hearing, paragraph [2]string // before and after
	investigation                        string    // after the sentence on the lawsuit
	cosmetic                             [][2]string
}

// The change detection was developed with the first form. The third form was written afterwards, without any
// adaptation.
var companyForms = map[string]companyForm{
	"prose": {
		topic: "Revenue, lawsuits and investigations of the companies",
		file: "# %[1]s\n\n%[1]s was founded in 19%[3]d and makes parts for machines. Its revenue was %[2]d million euros in 2025. The company employs 4%[3]d people.\n\n" +
			"A lawsuit of a supplier against %[1]s is pending. The court will hear the case on 12 May 2026. The board calls the claims unfounded.\n\n" +
			"%[1]s plans a plant in the north. The canteen serves lunch at noon.\n",
		revenue:       [2]string{"revenue was %[2]d million", "revenue was 9%[2]d million"},
		lawsuit:       [2]string{"A lawsuit of a supplier against %[1]s is pending.", "A lawsuit of a supplier against %[1]s was settled for 3 million euros."},
		hearing:       [2]string{"12 May 2026", "30 June 2026"},
		paragraph:     [2]string{"A lawsuit of a supplier against %[1]s is pending. The court will hear the case on 12 May 2026. The board calls the claims unfounded.\n\n", ""},
		investigation: " The cartel office has opened an investigation into prices of %[1]s.",
		cosmetic: [][2]string{{"makes parts", "makes  parts"}, {"%[1]s plans a plant in the north. The canteen serves lunch at noon.", "The canteen serves lunch at noon. %[1]s plans a plant in the north."},
			{"people.", "peolpe."}, {"# %[1]s", "# The company %[1]s"}},
	},
	"records": {
		topic: "Which turnover do the firms report, which suits and inquiries are they facing?",
		file: "%[1]s — profile\n\n## Figures\n\n| Item | Value |\n|---|---|\n| Turnover of %[1]s 2025 | EUR %[2]dm |\n| Staff | 5%[3]d |\n\n## Law\n\n" +
			"- Suits: Orr & Sons v. %[1]s over late deliveries has not been decided\n- Next date: the ruling is due on 3 March 2027\n\n" +
			"## Other\n\nThe warehouse of %[1]s holds 7,%[3]d0 pallets. Visitors need a badge.\n\nAuditors confirmed the turnover of %[1]s without remarks.\n",
		revenue:       [2]string{"EUR %[2]dm", "EUR 8%[2]dm"},
		lawsuit:       [2]string{"over late deliveries has not been decided", "over late deliveries ended with a payment of EUR 2m"},
		hearing:       [2]string{"3 March 2027", "17 April 2027"},
		paragraph:     [2]string{"Auditors confirmed the turnover of %[1]s without remarks.\n", ""},
		investigation: "\n- Inquiries: customs officers searched offices of %[1]s in an inquiry into turnover tax",
		cosmetic: [][2]string{{"Visitors need", "Visitors  need"}, {"## Other", "## Further matters"},
			{"warehouse", "warehuose"}, {"| Staff | 5%[3]d |", "| Staff | 5%[3]d.0 |"}},
	},
	"letters": {
		topic: "Umsatz, Klagen und Ermittlungen bei den Unternehmen",
		file: "Bericht an die Gesellschafter von %[1]s\n\nSehr geehrte Damen und Herren,\n\n" +
			"der Umsatz von %[1]s lag im Jahr 2025 bei %[2]d,%[3]d Mio. Euro. Beschäftigt waren 3.0%[3]d Personen.\n\n" +
			"Die Klage eines Kunden gegen %[1]s vor dem Landgericht ist anhängig. Das Gericht verhandelt am 9. Juni 2026.\n\n" +
			"Die Prüfer der %[1]s haben den Umsatz bestätigt. Ein Werk in Kiel ist geplant.\n\nMit freundlichen Grüßen\nder Vorstand\n",
		revenue:       [2]string{"bei %[2]d,%[3]d Mio.", "bei 7%[2]d,%[3]d Mio."},
		lawsuit:       [2]string{"ist anhängig.", "wurde mit einem Vergleich beendet."},
		hearing:       [2]string{"9. Juni 2026", "21. September 2026"},
		paragraph:     [2]string{"Die Prüfer der %[1]s haben den Umsatz bestätigt. Ein Werk in Kiel ist geplant.\n\n", ""},
		investigation: " Die Staatsanwaltschaft hat Ermittlungen gegen zwei Mitarbeiter der %[1]s aufgenommen.",
		cosmetic: [][2]string{{"Sehr geehrte", "Sehr  geehrte"}, {"Beschäftigt waren 3.0%[3]d Personen.", "Beschäftigt waren 30%[3]d Personen."},
			{"Landgericht", "Landgreicht"}, {"Bericht an die", "Brief an die"}},
	},
}

const companies = 200

// company returns a text of the file of company i.
func company(i int, text string) string {
	syllables := []string{"Ar", "Bel", "Cor", "Dan", "El", "Far", "Gor", "Hal", "Is", "Jor", "Kel", "Lun", "Mor", "Nor", "Or", "Pel"}
	name := syllables[i%16] + strings.ToLower(syllables[i/16]) + "ton Works"
	return strings.NewReplacer("%[1]s", name, "%[2]d", fmt.Sprint(1000+7*i), "%[3]d", fmt.Sprint(10+i%90)).Replace(text)
}

// companyFiles returns a function that writes the file of company i.
func companyFiles(t *testing.T, dir string) func(i int, text string) {
	return func(i int, text string) {
		t.Helper()
		path := filepath.Join(dir, fmt.Sprintf("company-%03d.md", i))
		if err := os.WriteFile(path, []byte(company(i, text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhatChangedAmongCompanies researches one topic over two hundred short files. Thirteen of them change in ways
// relevant to the topic, others in irrelevant ways.
func TestWhatChangedAmongCompanies(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	for name, form := range companyForms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if scaletest.Race && !scaletest.Full && name != "prose" {
				t.Skip("one form is enough for the race detector")
			}
			b := setup(t, redistest.Server(t), nil)
			dir := t.TempDir()
			write := companyFiles(t, dir)
			published, read := map[string]*knowledge.Base{}, &reads{}
			b.services.Toolbox = func(_ context.Context, run topicqueue.Run) (jobs.Toolbox, error) {
				base := published[run.Options.KnowledgeVersion]
				return jobs.Toolbox{Tools: tools.Set{tools.NewRAGHybrid(base, 10)}, Sections: base, Documents: read.of(base)}, nil
			}
			n := &nights{bench: b, model: &nightModel{}, subjects: []string{"companies"}, topic: func(string) string { return form.topic }}
			night := func(number int) nightReport {
				t.Helper()
				version, base := publishBase(t, b.services.Store, dir)
				published[version] = base
				return n.nightOf(number, func(o *topicqueue.Options) {
					o.KnowledgeBase, o.KnowledgeVersion, o.Tools = "companies", version, []string{"rag_hybrid"}
				})["companies"]
			}
			for i := range companies {
				write(i, form.file)
			}
			first := night(1)
			want := form.edit(t, write, filepath.Join(dir, "company-140.md"))
			second := night(2)
			told, found := findings(second.changes), make([]bool, len(want))
			right := 0
			for _, g := range told {
				known := g.kind == "withdrawn" && strings.Contains(company(140, form.file), g.old) // of the file that was deleted
				for k, w := range want {
					if g.kind == w.Kind && holds(g.old, w.Old) && holds(g.now, w.New) {
						found[k], known = true, true
					}
				}
				if known {
					right++
				} else {
					t.Logf("wrongly told: %+v", g)
				}
			}
			hits := 0
			for k, w := range want {
				if found[k] {
					hits++
				} else {
					t.Logf("not told: %+v", w)
				}
			}
			precision, recall := float64(right)/float64(max(1, len(told))), float64(hits)/float64(len(want))
			took := func(r nightReport) float64 { return r.run.EndedAt.Sub(r.run.StartedAt).Seconds() }
			t.Logf("%d told of %d edits: precision %.3f, recall %.3f; nights took %.3f and %.3f s",
				len(told), len(want), precision, recall, took(first), took(second))
			if precision < 0.95 || recall < 0.95 {
				t.Error("too little is told rightly")
			}
			read.n.Store(0)
			third := night(3)
			t.Logf("an unchanged night took %.3f s", took(third))
			if n := read.n.Load(); !third.changes.None() || n > 0 {
				t.Errorf("nothing was edited, but %d texts were read: %+v", n, findings(third.changes))
			}
		})
	}
}

// TestWhatChangedOfOneCompany: many topics over one knowledge base, each about one company. A report states the changes
// of its company and none of others, although all files use the same words.
func TestWhatChangedOfOneCompany(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	form := companyForms["prose"]
	b := setup(t, redistest.Server(t), nil)
	dir := t.TempDir()
	write := companyFiles(t, dir)
	published := map[string]*knowledge.Base{}
	b.services.Toolbox = func(_ context.Context, run topicqueue.Run) (jobs.Toolbox, error) {
		base := published[run.Options.KnowledgeVersion]
		return jobs.Toolbox{Tools: tools.Set{tools.NewRAGHybrid(base, 10)}, Sections: base, Documents: base}, nil
	}
	n := &nights{bench: b, model: &nightModel{}, topic: func(name string) string {
		return "What are the revenue, plans and lawsuits of " + name + " in 2025?"
	}}
	for i := range companies {
		write(i, form.file)
	}
	edited := map[string]bool{}
	for _, i := range []int{3, 31, 64, 102} {
		edited[company(i, "%[1]s")] = true
	}
	for i := 0; i < companies; i += 20 {
		n.subjects = append(n.subjects, company(i, "%[1]s"))
	}
	deleted := company(150, "%[1]s")
	n.subjects = append(n.subjects, slices.Sorted(maps.Keys(edited))...)
	n.subjects = append(n.subjects, deleted)
	night := func(number int) map[string]string {
		t.Helper()
		version, base := publishBase(t, b.services.Store, dir)
		published[version] = base
		return n.work(number, func(o *topicqueue.Options) {
			o.KnowledgeBase, o.KnowledgeVersion, o.Tools = "companies", version, []string{"rag_hybrid"}
		})
	}
	night(1)
	for _, i := range []int{3, 31} {
		write(i, strings.Replace(form.file, form.revenue[0], form.revenue[1], 1))
	}
	write(64, strings.Replace(form.file, form.lawsuit[0], form.lawsuit[1], 1))
	write(102, strings.Replace(form.file, form.lawsuit[0], form.lawsuit[0]+form.investigation, 1))
	if err := os.Remove(filepath.Join(dir, "company-150.md")); err != nil {
		t.Fatal(err)
	}
	for name, runID := range night(2) {
		report := n.left(name, runID)
		told, want := findings(report.changes), 0
		if edited[name] {
			want = 1
		}
		state := topicqueue.RunCompleted
		if name == deleted {
			state, want = topicqueue.RunPartial, len(report.changes.Withdrawn)
		}
		if report.run.State != state || len(told) != want || name == deleted && want == 0 {
			t.Errorf("%s: %s, told %d changes, want %s and %d: %+v", name, report.run.State, len(told), state, want, told)
		}
		for _, other := range n.subjects {
			if other != name && strings.Contains(report.markdown, other) {
				t.Errorf("the report on %s mentions %s", name, other)
			}
		}
	}
}

// edit changes files and returns the expected findings.
func (form companyForm) edit(t *testing.T, write func(int, string), deleted string) (want []wanted) {
	t.Helper()
	swap := func(i int, pair [2]string) string {
		if !strings.Contains(form.file, pair[0]) {
			t.Fatalf("%q is not there", pair[0])
		}
		return strings.Replace(form.file, pair[0], pair[1], 1)
	}
	change := func(i int, pair [2]string) {
		write(i, swap(i, pair))
		want = append(want, wanted{"changed", parts(i, pair[0]), parts(i, pair[1])})
	}
	for _, i := range []int{3, 31, 77, 102, 158, 199} {
		change(i, form.revenue)
	}
	for _, i := range []int{12, 64, 121} {
		change(i, form.lawsuit)
	}
	change(88, form.hearing)
	write(45, swap(45, form.paragraph))
	want = append(want, wanted{"withdrawn", nil, nil})
	for _, sentence := range strings.SplitAfter(company(45, form.paragraph[0]), ". ") {
		want[len(want)-1].Old = []string{strings.TrimSpace(sentence)}
		break
	}
	anchor := form.lawsuit[0]
	write(170, strings.Replace(form.file, anchor, anchor+form.investigation, 1))
	want = append(want, wanted{"new", nil, parts(170, strings.TrimLeft(form.investigation, " \n-"))})
	if err := os.Remove(deleted); err != nil {
		t.Fatal(err)
	}
	want = append(want, wanted{"withdrawn", parts(140, form.lawsuit[0]), nil}, wanted{"withdrawn", parts(140, form.revenue[0]), nil})
	for k, pair := range form.cosmetic {
		write(20+k, swap(20+k, pair))
	}
	return want
}

type wanted struct {
	Kind     string
	Old, New []string
}

func parts(i int, text string) []string { return []string{company(i, text)} }

// reads counts the reads of a knowledge base's documents.
type reads struct{ n atomic.Int64 }

func (r *reads) of(base *knowledge.Base) researching.Documents { return &readBase{base, r} }

type readBase struct {
	*knowledge.Base
	reads *reads
}

func (b *readBase) Text(ctx context.Context, document string) (string, error) {
	b.reads.n.Add(1)
	return b.Base.Text(ctx, document)
}

func (b *readBase) Passages(ctx context.Context, document string) ([]topicqueue.Source, error) {
	b.reads.n.Add(1)
	return b.Base.Passages(ctx, document)
}

func (b *readBase) Like(ctx context.Context, text string, limit int) ([]topicqueue.Source, error) {
	b.reads.n.Add(1)
	return b.Base.Like(ctx, text, limit)
}

// publishBase indexes a directory, and returns the published version.
func publishBase(t *testing.T, store knowledge.SnapshotStore, dir string) (version string, base *knowledge.Base) {
	t.Helper()
	made, err := knowledge.Create(filepath.Join(t.TempDir(), "base.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	if rep, err := made.Ingest(t.Context(), []string{dir}, nil); err != nil || len(rep.Skipped) > 0 {
		t.Fatal(err, rep.Skipped)
	}
	if version, err = knowledge.Publish(t.Context(), made, store); err != nil {
		t.Fatal(err)
	}
	path, err := knowledge.Fetch(t.Context(), store, t.TempDir(), "base", version)
	if err != nil {
		t.Fatal(err)
	}
	if base, err = knowledge.Open(path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { base.Close() })
	return version, base
}
