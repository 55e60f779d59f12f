package digest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/quantity"
	"nightdesk/pipeline/recurring"
	"nightdesk/topicqueue"
)

// Builder builds a digest from runs, one at a time.
type Builder struct {
	d               Digest
	failed, partial reasons
	changed         top
	disagree        top
	thin            top
	remarks         top
	seen            map[string]bool // contradictions, by their statements
	dearest         []Ref
}

// NewBuilder returns a builder for the digest of a batch.
func NewBuilder(batch string, created time.Time) *Builder {
	return &Builder{d: Digest{
		Batch: batch, CreatedAt: created, States: map[topicqueue.RunState]int{}, Compared: true, Reports: []Ref{},
		Dearest: []Ref{}, First: []Item{},
	}, seen: map[string]bool{}}
}

// Add adds a run of the batch.
func (b *Builder) Add(run Run) {
	r := RefOf(run)
	b.d.Runs++
	b.d.States[run.State]++
	if run.EndedAt.After(b.d.EndedAt) {
		b.d.EndedAt = run.EndedAt
	}
	if len(b.d.Reports) < maxReports {
		b.d.Reports = append(b.d.Reports, r)
	}
	b.d.Usage.add(run.Facts.Usage)
	if budget := run.Facts.Budget; budget != nil {
		if budget.Batch != (Amount{}) {
			b.d.Budget = budget.Batch
		}
		if budget.Night != (Amount{}) {
			b.d.NightBudget = budget.Night
		}
		if len(budget.Cuts) > 0 {
			b.d.Trimmed++
		}
	}
	b.expensive(r)
	switch run.State {
	case topicqueue.RunFailed:
		b.failed.add(run.Reason, r)
	case topicqueue.RunPartial:
		b.partial.add(run.Reason, r)
	}
	for _, c := range run.Facts.Contradictions {
		b.contradiction(c, "within one report", []Ref{r}, 1)
	}
	if run.Facts.Origins == 1 {
		b.thin.add(Item{Kind: KindThin, Text: "it cites only one source", Runs: []Ref{r}, Count: 1})
	}
	for _, remark := range run.Facts.Remarks {
		b.remarks.add(remarkItem(remark, r))
	}
	if run.Facts.Changes != nil {
		b.changes(*run.Facts.Changes, r)
	}
}

func (b *Builder) expensive(r Ref) {
	if r.CostUSD <= 0 {
		return
	}
	b.dearest = append(b.dearest, r)
	slices.SortStableFunc(b.dearest, func(x, y Ref) int { return cmp.Compare(y.CostUSD, x.CostUSD) })
	b.dearest = b.dearest[:min(len(b.dearest), maxDearest)]
}

// Contradict adds contradictions between reports. complete: all comparable claims were compared.
func (b *Builder) Contradict(list []Disagreement, complete bool) {
	b.d.Compared = complete
	for _, d := range list {
		b.contradiction(d.Contradiction, "between reports", d.Runs, d.Count)
	}
}

func (b *Builder) contradiction(c evidence.Contradiction, where string, runs []Ref, count int) {
	sides := []string{line(c.A.Statement), line(c.B.Statement)}
	if sides[0] == "" || sides[1] == "" {
		return
	}
	key := strings.Join(slices.Sorted(slices.Values(sides)), "\n")
	if b.seen[key] { // reports with shared sources have the same contradictions
		return
	}
	if len(b.seen) < 20*maxItems {
		b.seen[key] = true
	}
	what := line(c.Why)
	switch {
	case what != "":
	case c.A.Value != "" && c.B.Value != "":
		what = line(c.A.Value) + " or " + line(c.B.Value) + ", " + where
	default:
		what = "sources contradict each other, " + where
	}
	for i, s := range []evidence.Side{c.A, c.B} {
		if s.Support > 1 {
			sides[i] += fmt.Sprintf(" (%s)", count1(s.Support, "source"))
		}
	}
	// Readers of a single report do not see a contradiction between reports.
	weight := float64(c.A.Support + c.B.Support)
	if len(runs) > 1 {
		weight += 0.5
	}
	b.disagree.add(Item{Kind: KindContradiction, Text: what, Sides: sides, Runs: runs, Count: count,
		weight: weight})
}

// remarkItem returns an item for a reader's remark on the last report of a topic.
func remarkItem(remark topicqueue.Remark, r Ref) Item {
	item := Item{Kind: KindRemark, Text: line(remark.Words), Runs: []Ref{r}, Count: 1}
	if remark.Sentence != "" {
		item.Sides = []string{"about the sentence: " + line(remark.Sentence)}
	}
	by := remark.At.UTC().Format(time.DateOnly)
	if remark.By != "" {
		by = line(remark.By) + ", " + by
	}
	item.Text += " (" + by + ", about run " + line(remark.RunID) + ")"
	return item
}

// ChangeLines returns all changes, one per line: changed values, then withdrawn statements, then new ones.
func (f Facts) ChangeLines() (lines []string) {
	c := f.Changes
	for _, x := range c.Changed {
		lines = append(lines, moved(x))
	}
	for _, text := range byDocument(withdrawn(*c)) {
		lines = append(lines, "withdrawn: "+text)
	}
	for _, text := range byDocument(c.New) {
		lines = append(lines, "new: "+text)
	}
	return lines
}

func withdrawn(c recurring.Changes) (list []recurring.Said) {
	for _, w := range c.Withdrawn {
		list = append(list, w.Said)
	}
	return list
}

// moved renders a change with both values, or else both statements.
func moved(c recurring.Change) string {
	of := c.What
	if of == "" && c.New.Value != "" {
		of = c.New.Statement
	}
	text := titled(c.New.Title, of)
	if short(c.Old) != "" || short(c.New) != "" {
		text = strings.TrimPrefix(strings.TrimRight(text, ".")+": ", ": ") + short(c.Old) + " → " + short(c.New)
	}
	return text
}

func short(s recurring.Said) string { return line(cmp.Or(s.Value, s.Statement)) }

// changes adds the changes of one topic. Changed values rank first, by relative difference, then withdrawn statements,
// then new ones.
func (b *Builder) changes(c recurring.Changes, r Ref) {
	since := ""
	if c.Since != "" {
		since = " (since " + line(c.Since) + ")"
	}
	add := func(text string, weight float64) {
		b.changed.add(Item{Kind: KindChanged, Text: text, Runs: []Ref{r}, Count: 1, weight: weight})
	}
	for _, x := range c.Changed {
		add(moved(x)+since, 3+apart(short(x.Old), short(x.New)))
	}
	for _, text := range byDocument(withdrawn(c)) {
		add("withdrawn: "+text+since, 2)
	}
	if n := len(c.New); n > 0 {
		texts := byDocument(c.New)
		texts = texts[:min(len(texts), 3)]
		add(fmt.Sprintf("%d new: %s%s", n, line(strings.Join(texts, "; ")), since), 1+float64(min(n, 100))/101)
	}
	if c.None() {
		b.d.Unchanged++
	}
}

// titled renders a statement, preceded by the title of its document unless it contains the title.
func titled(title, statement string) string {
	if title == "" || statement == "" || strings.Contains(statement, title) {
		return line(statement)
	}
	return line(title + ": " + statement)
}

// byDocument renders one line per statement. Consecutive statements of one document share a line.
func byDocument(list []recurring.Said) (lines []string) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[0].Title != "" && list[n].Title == list[0].Title {
			n++
		}
		text := strings.TrimRight(titled(list[0].Title, list[0].Statement), ".")
		if n > 1 {
			text += fmt.Sprintf(" (and %d more)", n-1)
		}
		lines, list = append(lines, text), list[n:]
	}
	return lines
}

// apart returns the relative difference of two values, from 0 to 1, or 0 if they are not comparable quantities.
func apart(old, new string) float64 {
	a, b := quantity.Parse(old), quantity.Parse(new)
	if len(a) != 1 || len(b) != 1 {
		return 0
	}
	if a[0].Kind != b[0].Kind || a[0].Unit != b[0].Unit || a[0].Kind == quantity.Date {
		return 0
	}
	most := max(math.Abs(a[0].Low), math.Abs(b[0].Low))
	if most == 0 {
		return 0
	}
	return min(1, math.Abs(a[0].Low-b[0].Low)/most)
}

// Digest returns the digest of the added runs.
func (b *Builder) Digest() Digest {
	d := b.d
	d.Failed = b.failed.section(KindFailed, d.Batch)
	d.Partial = b.partial.section(KindPartial, d.Batch)
	d.Changed, d.Disagree, d.Thin = b.changed.section(), b.disagree.section(), b.thin.section()
	if len(b.remarks.items) > 0 {
		d.Remarks = b.remarks.section()
	}
	d.Dearest = slices.Concat(d.Dearest, b.dearest)
	d.shorten()
	d.First = d.first()
	return d
}

// first selects the items of the first screen: the share of each kind, then more while there is room.
func (d Digest) first() []Item {
	thin := d.Thin.Items
	if n := d.Thin.Total; n > 1 { // one line for all
		one := Item{Kind: KindThin, Count: n,
			Text: fmt.Sprintf("%d reports cite only one source each", n)}
		for _, item := range thin[:min(maxRefs, len(thin))] {
			one.Runs = append(one.Runs, item.Runs...)
		}
		thin = []Item{one}
	}
	d.Thin.Items = thin
	first, room := []Item{}, maxFirst
	for _, k := range kinds {
		room -= min(k.share, len(k.section(&d).Items))
	}
	for _, k := range kinds {
		items := k.section(&d).Items
		shown := min(len(items), k.share+room)
		first, room = append(first, items[:shown]...), room-max(0, shown-k.share)
	}
	for i, item := range first { // keep the first screen short; the sections list more runs
		if item.Count > firstRefs && item.Kind != KindContradiction {
			first[i].Runs = item.Runs[:min(firstRefs, len(item.Runs))]
		}
	}
	return first
}

// firstRefs is the maximum number of runs on the first screen for an item that many runs share.
const firstRefs = 2

// top keeps the items with the highest weight; for equal weights the earlier ones.
type top struct {
	items []Item
	total int
}

func (t *top) add(item Item) {
	t.total++
	at, _ := slices.BinarySearchFunc(t.items, item, func(x, target Item) int {
		if x.weight >= target.weight {
			return -1
		}
		return 1
	})
	if at < maxItems {
		t.items = slices.Insert(t.items, at, item)
		t.items = t.items[:min(len(t.items), maxItems)]
	}
}

func (t *top) section() Section {
	return Section{Items: append([]Item{}, t.items...), Total: t.total}
}

// count1 formats a count with its noun: "1 source", "2 sources".
func count1(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return figure(n) + " " + what + "s"
}

// figure formats a number with commas, or in millions if it is large.
func figure(n int) string {
	if n >= 1_000_000 {
		return fmt.Sprintf("%.1f million", float64(n)/1e6)
	}
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
