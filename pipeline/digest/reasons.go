package digest

import (
	"cmp"
	"regexp"
	"strings"
)

// reasons groups failed or partial runs by cause.
type reasons struct {
	groups []*reason // in order of first occurrence
	known  map[string]*reason
	total  int
}

// reason is a cause. The texts of its runs differ only in particulars.
type reason struct {
	text  string   // with "…" for the particulars, once they differ
	texts []string // of the first runs
	runs  []Ref
	n     int
}

// alone is the maximum number of runs with the same cause that are listed separately.
const alone = 3

// particulars matches the parts that differ between texts with the same cause: numbers, dates, ids, addresses with a
// number, and quotations.
var particulars = regexp.MustCompile(`"[^"]*"|“[^”]*”|\d+(?:,\d{3})+|[\w.:/+@-]*\d(?:[\w.:/+@-]*\w)?`)

func (r *reasons) add(text string, run Ref) {
	r.total++
	if r.known == nil {
		r.known = map[string]*reason{}
	}
	text = line(text)
	key := particulars.ReplaceAllString(text, "…")
	g := r.known[key]
	if g == nil && len(r.groups) == maxReasons {
		key, text = "", "further reasons, see `nightdesk list`"
		g = r.known[key]
	}
	if g == nil {
		g = &reason{text: text}
		r.known[key], r.groups = g, append(r.groups, g)
	}
	if g.text != text {
		g.text = cmp.Or(key, g.text)
	}
	g.n++
	if len(g.runs) < maxRefs {
		g.runs, g.texts = append(g.runs, run), append(g.texts, text)
	}
}

// section returns the items, the most common causes first.
func (r *reasons) section(kind, batch string) Section {
	var t top
	for _, g := range r.groups {
		if g.n <= alone {
			for i, run := range g.runs {
				t.add(Item{Kind: kind, Text: g.texts[i], Do: advice(kind, g.texts[i], run.RunID), Runs: []Ref{run},
					Count: 1, weight: 1})
			}
			continue
		}
		t.add(Item{Kind: kind, Text: g.text, Do: advice(kind, g.text, batch), Runs: g.runs, Count: g.n,
			weight: float64(g.n)})
	}
	s := t.section()
	s.Total = r.total
	return s
}

// advices maps words in reasons, which this program writes, to what the user can do. The first match applies.
var advices = []struct{ words, do string }{
	{"knowledge base", "Add the knowledge base, or set the same STORAGE_URL on every worker; then "},
	{"had nothing for the model", "Raise the budget or choose a smaller preset; then "},
	{"no evidence was found",
		"Rephrase the topic, or add a knowledge base or search engine that covers it; `nightdesk doctor` checks whether " +
			"they answer. Then "},
	{"no longer support any statement",
		"Check the sources: they were removed or rewritten. Take the topic off the list, or restore them and "},
	{"before a worker had time",
		"Start more workers or give a later --deadline, and enqueue the topic in another batch, or "},
	{"time of the run was used up", "Give it more time (--duration), or the workers fewer topics at once; then "},
	{"budget", "Raise the budget or choose a smaller preset; then "},
	{"times without any progress", "It crashes its workers. Check their memory and logs before you "},
	{"internal error (please report)", "Please report it with the worker's log. It may help to "},
	{"API key", "`nightdesk doctor --model` says what is wrong with the model. Correct it, then "},
	{"model", "`nightdesk doctor --model` says whether the model answers; then "},
}

// advice returns what to do about a run or, if many runs have the same reason, about a batch.
func advice(kind, reason, name string) string {
	again := "try again with `nightdesk retry " + name + "`"
	for _, a := range advices {
		if strings.Contains(reason, a.words) {
			return a.do + again + "."
		}
	}
	if kind == KindPartial {
		return "Keep this in mind when reading the report, or " + again + "."
	}
	return upper(again) + "."
}
