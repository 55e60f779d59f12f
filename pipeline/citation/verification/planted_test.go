package verification_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/verification"
	"nightdesk/topicqueue/scaletest"
)

// planted is a report with references of every kind, of which it is known what must become of them.
type planted struct {
	r       *rand.Rand
	first   int // number of the first reference
	sources []citation.Source
	targets []string // by place: what the reference writes
	found   []string // the address or key that it leads to, else empty
	removed []string // why it goes, else empty
	after   map[int]int
}

// reference adds a reference of a random kind.
func (p *planted) reference() {
	i := len(p.targets)
	address := fmt.Sprintf("https://site%d.example/a/page-%c", i, 'a'+rune(i%26))
	target, found, removed := address, address, ""
	switch n := p.r.IntN(20); {
	case n < 9:
		p.sources = append(p.sources, citation.Source{URL: address})
	case n < 11: // cut short
		found = address + "bc-long?id=7"
		p.sources = append(p.sources, citation.Source{URL: found})
	case n < 13:
		target = fmt.Sprintf("doc-%c%d.pdf, p. %d", 'a'+rune(i%26), i, i+1)
		found = target
		p.sources = append(p.sources, citation.Source{Key: target})
	case n < 15 && slices.ContainsFunc(p.found, func(s string) bool { return strings.HasPrefix(s, "https:") }):
		same := slices.IndexFunc(p.found, func(s string) bool { return strings.HasPrefix(s, "https:") })
		target, found, removed = p.found[same], "", verification.ReasonDuplicate+strconv.Itoa(same+p.first)
	case n < 18:
		found, removed = "", citation.ReasonUnknownURL
	case n < 19:
		target, found, removed = fmt.Sprintf("none%d.pdf, p. 3", i), "", citation.ReasonUnknownKey
	default:
		target, found, removed = "a talk in private", "", verification.ReasonUnverifiable
	}
	p.targets, p.found, p.removed = append(p.targets, target), append(p.found, found), append(p.removed, removed)
}

// renumber notes which number each reference, and each duplicate, has afterwards.
func (p *planted) renumber() {
	p.after = map[int]int{}
	for i, found := range p.found {
		if found != "" {
			p.after[i+p.first] = len(p.after) + 1
		}
	}
	for i, reason := range p.removed {
		if of, ok := strings.CutPrefix(reason, verification.ReasonDuplicate); ok {
			first, _ := strconv.Atoi(of)
			p.after[i+p.first] = p.after[first]
		}
	}
}

// markers writes markers of up to four numbers, also of ones that no reference has, and returns the numbers afterwards.
func (p *planted) markers() (text string, after []int) {
	forms := []string{"[%d]", "【%d】", "[^%d]", "[%d, p. 3]", "[[%d]]", "([%d])", " [%d]"}
	form := forms[p.r.IntN(len(forms))]
	var numbers []string
	for range p.r.IntN(5) {
		n := p.first + p.r.IntN(len(p.targets)+2)
		text += fmt.Sprintf(form, n)
		numbers = append(numbers, strconv.Itoa(n))
		if to := p.after[n]; to > 0 && !slices.Contains(after, to) {
			after = append(after, to)
		}
	}
	if p.r.IntN(3) == 0 && len(numbers) > 0 {
		text = " [" + strings.Join(numbers, ", ") + "]"
	}
	slices.Sort(after)
	return text, after
}

// pick returns one of the parts of a text that | separates.
func (p *planted) pick(parts string) string {
	list := strings.Split(parts, "|")
	return list[p.r.IntN(len(list))]
}

// report writes the report and returns, by word, the numbers that must stand behind it afterwards.
func (p *planted) report() (text string, cited map[string][]int) {
	var b strings.Builder
	b.WriteString("# Report\n\n")
	cited = map[string][]int{}
	for i := range 20 + p.r.IntN(40) {
		word := fmt.Sprintf("Word%dx", i)
		markers, after := p.markers()
		cited[word] = after
		b.WriteString(strings.ReplaceAll(p.pick("The thing %.|- The thing %.|> The thing %.|这是 %。|**Thing** %, so.|Das „%“!|The *%*; more.|(%)|## Head %|القيمة %؟|`code[3]` %")+"\n\n", "%", word+markers))
	}
	b.WriteString(p.pick("## Sources|**References**|## Quellen|## 参考文献|Sources:|## Список литературы") + "\n\n")
	label, entry := p.pick("[%] |- [%] |[%]: |**[%]** |[^%]: |* [%] "), p.pick("Title: %|%|Title - %|[Title](%)|Title\n    %|Title. *Journal*, 12(3), 45-67. %, accessed 2024-05-03.")
	for i, target := range p.targets {
		line := "Title: %"
		if strings.HasPrefix(target, "https:") {
			line = entry
		} else if p.removed[i] == verification.ReasonUnverifiable {
			line = "%"
		}
		b.WriteString(strings.ReplaceAll(label, "%", strconv.Itoa(i+p.first)) + strings.ReplaceAll(line, "%", target) + "\n")
	}
	return b.String() + p.pick("|\n## Annex\n\nEnd.\n"), cited
}

// TestVerifyPlanted: of long reports with references of every kind, each reference and each marker becomes what it
// must.
func TestVerifyPlanted(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := &planted{r: r, first: min(r.IntN(5), 1)}
		for range 5 + r.IntN(50) {
			p.reference()
		}
		p.renumber()
		in, cited := p.report()
		got := verification.Verify(citation.RegistryOf(p.sources), in, false)
		valid, removed := make([]string, len(p.targets)), make([]string, len(p.targets))
		for _, c := range got.Valid {
			if c.URL != nil {
				valid[c.Number-p.first] = *c.URL
			} else {
				valid[c.Number-p.first] = *c.CitationKey
			}
			if c.ReportNumber != p.after[c.Number] {
				t.Errorf("seed %d: [%d] is [%d] afterwards, not [%d]", seed, c.Number, c.ReportNumber, p.after[c.Number])
			}
		}
		for _, c := range got.Removed {
			removed[c.Number-p.first] = c.Reason
		}
		if diff := cmp.Diff([][]string{p.found, p.removed}, [][]string{valid, removed}); diff != "" {
			t.Errorf("seed %d (-want +got):\n%s", seed, diff)
		}
		for word, want := range cited {
			if have := numbersBehind(got.Report, word); !slices.Equal(have, want) {
				t.Errorf("seed %d: behind %s stand %v, not %v", seed, word, have, want)
			}
		}
		if t.Failed() {
			t.Fatalf("%s\n\n%s", in, got.Report)
		}
	}
}

var digits = regexp.MustCompile(`[0-9]+`)

// numbersBehind returns the numbers of the markers behind a word, sorted, each once.
func numbersBehind(report, word string) []int {
	_, rest, _ := strings.Cut(report, word)
	rest, _, _ = strings.Cut(rest, "\n")
	var numbers []int
	for _, n := range digits.FindAllString(strings.ReplaceAll(rest, "p. 3", ""), -1) {
		i, _ := strconv.Atoi(n)
		numbers = append(numbers, i)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}
