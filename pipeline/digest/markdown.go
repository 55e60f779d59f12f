package digest

import (
	"fmt"
	"strings"

	"nightdesk/pipeline/markdown"
	"nightdesk/topicqueue"
)

// Markdown returns the digest as CommonMark. link returns the address of a report by its storage key, or "".
func (d Digest) Markdown(link func(key string) string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Digest of %s\n\n%s\n\n", markdown.Escape(d.Batch), markdown.Escape(d.Outcome()))
	for i, item := range d.First {
		writeItem(&b, fmt.Sprintf("%d.", i+1), item, link)
	}
	if len(d.First) > 0 {
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s\n", markdown.Escape(d.Spend()))
	for _, s := range d.Sections() {
		fmt.Fprintf(&b, "\n## %s\n\n", s.Title)
		for _, item := range s.Items {
			writeItem(&b, "-", item, link)
		}
		if s.More > 0 {
			fmt.Fprintf(&b, "\n%d more are not listed.\n", s.More)
		}
	}
	b.WriteString("\n## All reports\n\n")
	for _, r := range d.Reports {
		fmt.Fprintf(&b, "- %s: %s%s\n", r.State, linked(r, false, link), listen(r, link))
	}
	if d.More() > 0 {
		fmt.Fprintf(&b, "\n%d more are not listed; `nightdesk list --batch %s` has all.\n", d.More(), d.Batch)
	}
	return []byte(b.String())
}

func writeItem(b *strings.Builder, mark string, item Item, link func(string) string) {
	indent := strings.Repeat(" ", len(mark)+1)
	names := item.names(func(r Ref, short bool) string { return linked(r, short, link) })
	fmt.Fprintf(b, "%s **%s**%s: %s\n", mark, Word(item.Kind), names, markdown.Escape(item.Text))
	for _, side := range item.Sides {
		fmt.Fprintf(b, "%s- %s\n", indent, markdown.Escape(side))
	}
	if item.Do != "" {
		fmt.Fprintf(b, "%s- *To do:* %s\n", indent, item.Do)
	}
}

// Line returns the item as one line of plain text.
func (i Item) Line() string { return Word(i.Kind) + i.names(Ref.Name) + ": " + i.Text }

// names lists the runs of an item.
func (i Item) names(name func(r Ref, short bool) string) (list string) {
	for n, r := range i.Runs {
		list += []string{" ", "; "}[min(n, 1)] + name(r, len(i.Runs) > 1)
	}
	if i.More() > 0 {
		list += fmt.Sprintf(" and %d more", i.More())
	}
	return list
}

// linked returns the name of a run, linked to its report if there is one.
func linked(r Ref, short bool, link func(string) string) string {
	text := markdown.Escape(r.Name(short))
	if r.Report == "" {
		return text
	}
	return linkTo(text, link(r.Report))
}

// listen returns a link to the audio of a report, or "".
func listen(r Ref, link func(string) string) string {
	if r.Audio == "" {
		return ""
	}
	return " (" + linkTo("listen", link(r.Audio)) + ")"
}

// linkTo returns a Markdown link, or only the text if there is no address.
func linkTo(text, address string) string {
	if address == "" {
		return text
	}
	escaped := strings.NewReplacer("<", "%3C", ">", "%3E", "\n", "%0A", "\r", "%0D").Replace(address)
	return "[" + text + "](<" + escaped + ">)"
}

// Listed is a section for display.
type Listed struct {
	Title string
	Items []Item
	More  int
}

// Sections returns the sections with more items than First shows.
func (d Digest) Sections() []Listed {
	shown := map[string]int{}
	for _, item := range d.First {
		if item.Count == 1 || item.Kind != KindThin { // the common line for thin reports counts as none
			shown[item.Kind]++
		}
	}
	var out []Listed
	for _, k := range kinds {
		s := k.section(&d)
		if len(s.Items) <= shown[k.kind] {
			continue
		}
		counted := 0
		for _, item := range s.Items {
			counted += item.Count
			if k.kind == KindContradiction {
				counted += 1 - item.Count // Count is the number of runs here
			}
		}
		out = append(out, Listed{fmt.Sprintf("%s (%d)", k.title, s.Total), s.Items, s.Total - counted})
	}
	return out
}

// Outcome returns the result of the batch in one line.
func (d Digest) Outcome() string {
	var states []string
	for _, state := range topicqueue.RunStates {
		if n := d.States[state]; n > 0 {
			states = append(states, fmt.Sprintf("%d %s", n, state))
		}
	}
	text := count1(d.Runs, "topic")
	if len(states) > 0 {
		text += ": " + strings.Join(states, ", ")
	}
	text += "."
	var found []string
	for _, f := range []struct {
		n    int
		what string
	}{{d.Changed.Total, "change"}, {d.Disagree.Total, "contradiction"}} {
		if f.n > 0 {
			found = append(found, count1(f.n, f.what))
		}
	}
	if d.Unchanged > 0 {
		found = append(found, count1(d.Unchanged, "topic")+" unchanged")
	}
	if len(found) > 0 {
		text += " " + upper(strings.Join(found, ", ")) + "."
	}
	if d.Thin.Total > 0 {
		text += fmt.Sprintf(" %s on one source alone.", count1(d.Thin.Total, "report")+
			map[bool]string{true: " rests", false: " rest"}[d.Thin.Total == 1])
	}
	if !d.Compared {
		text += " There were too many claims to compare all reports with each other."
	}
	return text
}

// Spend returns the time and cost of the batch in one line.
func (d Digest) Spend() string {
	text := d.CreatedAt.UTC().Format("2006-01-02 15:04")
	if !d.EndedAt.IsZero() {
		text += " to " + d.EndedAt.UTC().Format("2006-01-02 15:04")
	}
	text += " UTC."
	if d.Usage.Calls == 0 {
		return text + " No model was asked."
	}
	text += fmt.Sprintf(" %s, %s", count1(d.Usage.Calls, "model call"), count1(d.Usage.Tokens, "token"))
	if d.Usage.Unpriced < d.Usage.Calls {
		text += fmt.Sprintf(", %.2f USD", d.Usage.CostUSD)
	}
	if d.Budget != (Amount{}) {
		text += " of a budget of " + d.Budget.words()
	}
	if d.NightBudget != (Amount{}) {
		text += " (the night has " + d.NightBudget.words() + " for all of its runs)"
	}
	if d.Usage.Unpriced > 0 {
		text += fmt.Sprintf(" (the price of %s is unknown)", count1(d.Usage.Unpriced, "call"))
	}
	text += "."
	if d.Trimmed > 0 {
		text += fmt.Sprintf(" %s shortened to stay within budget or time.", count1(d.Trimmed, "report")+
			map[bool]string{true: " was", false: " were"}[d.Trimmed == 1])
	}
	if len(d.Dearest) > 0 && d.Runs > 1 {
		r := d.Dearest[0]
		text += fmt.Sprintf(" Most expensive: %s, %.2f USD.", r.Topic, r.CostUSD)
	}
	return text
}

func upper(s string) string { return strings.ToUpper(s[:min(1, len(s))]) + s[min(1, len(s)):] }

// words formats an amount: "20.00 USD" or "2.0 million tokens".
func (a Amount) words() string {
	if a.Tokens > 0 {
		return figure(int(a.Tokens)) + " tokens"
	}
	return fmt.Sprintf("%.2f USD", a.USD)
}
