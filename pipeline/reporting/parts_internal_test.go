package reporting

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/extractive"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

func TestCleanSection(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in, want string
		bad      bool
	}{
		"plain":             {in: "A.\n\nB.", want: "A.\n\nB."},
		"own title":         {in: "## 2. Locks\n\nA.", want: "A."},
		"own title in bold": {in: "**Locks**\n\nA.", want: "A."},
		"underlined":        {in: "Locks\n=====\n\nA.\n\nWhy\n---\nB.", want: "A.\n\n### Why\n\nB."},
		"levels":            {in: "# A\n\na\n\n## B\n\nb\n\n### C\n\nc", want: "### A\n\na\n\n#### B\n\nb\n\n#### C\n\nc"},
		"deep levels":       {in: "#### A\n\na", want: "### A\n\na"},
		"heading with id":   {in: "### 1.1 Why [CIT-1-01]\n\na", want: "### Why\n\na"},
		"empty heading":     {in: "### A\n\n### B\n\nb\n\n### C", want: "### B\n\nb"},
		"rule":              {in: "A.\n\n---\n\nB.", want: "A.\n\nB."},
		"preamble":          {in: "Sure! Here is the section on locks:\n\nA.", want: "A."},
		"no preamble":       {in: "Here is a fact.\n\nA.", want: "Here is a fact.\n\nA."},
		"own references":    {in: "A.\n\n## References\n\n[1] x", want: "A."},
		"bold references":   {in: "A.\n\n**Sources:**\n\n- x", want: "A."},
		"comment":           {in: "A. <!-- b\n\nc --> D. <!-- open\n\nE.", want: "A.  D."},
		"comment in code":   {in: "A `<!-- x -->`.", want: "A `<!-- x -->`."},
		"code":              {in: "A.\n\n```\n# no heading\n\n\nx\n```\n\nB.", want: "A.\n\n```\n# no heading\n\n\nx\n```\n\nB."},
		"open code":         {in: "A.\n\n```\n# x", want: "A.\n\n```\n# x\n```"},
		"table":             {in: "| a | b |\n|---|---|\n| c | d |", want: "| a | b |\n|---|---|\n| c | d |"},
		"empty":             {in: " \n ", bad: true},
		"refusal":           {in: "I'm sorry, but I can't help with that.", bad: true},
		"refusal in zh":     {in: "抱歉，我无法完成。", bad: true},
		"JSON":              {in: `{"section_content": "A."}`, bad: true},
		"fenced JSON":       {in: "```json\n{\"a\": 1}\n```", bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := cleanSection(tt.in, "Locks")
			if ok == tt.bad || got != tt.want {
				t.Errorf("cleanSection(%q)\n got %q, %v\nwant %q", tt.in, got, ok, tt.want)
			}
		})
	}
}

// FuzzCleanSection: no heading above level three is left outside code, code is closed, and what stands after the section
// stays outside of it.
func FuzzCleanSection(f *testing.F) {
	for _, s := range []string{"# A\n\n```\n# x", "A\n===\nB\n---\n", "~~~\n```\n", "> # x\n\n- # y", "<!-- x", "## Locks\n### 1.\n\n    # x\n", "# 0`\x8b\n# ::\xca::_\n`", "a `b\n===\nc`", "`a\n---\n# b`"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, ok := cleanSection(in, "Locks")
		if !ok {
			return
		}
		for _, l := range markdownLines(got) {
			if l.level > 0 && l.level < 3 {
				t.Fatalf("heading of level %d in %q from %q", l.level, got, in)
			}
		}
		const next = "## Next section\n"
		lines := markdownLines(citation.CloseCode(got) + "\n\n" + next)
		if !slices.ContainsFunc(lines, func(l line) bool { return l.heading == "Next section" && l.level == 2 }) {
			t.Fatalf("%q swallows what follows", got)
		}
	})
}

func TestDropRepeated(t *testing.T) {
	t.Parallel()
	sections := []section{
		{body: "Every change is appended to the log before the data pages are altered [CIT-1-01]. Recovery reads the log from its last checkpoint on. [CIT-1-02] It is short."},
		{body: "A standby applies the log records of its primary server at once. [CIT-2-01] Every change is appended to the log before the data pages are altered. [CIT-2-02] The switch to another machine took four minutes [CIT-2-03]."},
		{body: "### Again\n\nRecovery reads the log from its last checkpoint on [CIT-3-01].\n\nThroughput of the whole system dropped by 38% [CIT-3-02]."},
		{body: "Recovery reads the log from its last checkpoint on [CIT-4-01]."},
	}
	if n := dropRepeated(sections); n != 2 {
		t.Errorf("%d sentences dropped, want 2", n)
	}
	want := []string{
		sections[0].body,
		"A standby applies the log records of its primary server at once. [CIT-2-01] The switch to another machine took four minutes [CIT-2-03].",
		"### Again\n\nThroughput of the whole system dropped by 38% [CIT-3-02].",
		"Recovery reads the log from its last checkpoint on [CIT-4-01].", // all there is
	}
	for i, s := range sections {
		if diff := cmp.Diff(want[i], s.body); diff != "" {
			t.Errorf("section %d (-want +got):\n%s", i, diff)
		}
	}
}

// A text that goes round in circles is cut to what it says once; markers of what is gone go too.
func TestWithoutRepeats(t *testing.T) {
	t.Parallel()
	const said, again = "The log is written before the data pages are altered by the server.", "The log is always written before the data pages are altered by the server."
	for in, want := range map[string]string{
		"":   "",
		said: said,
		said + " [CIT-1-01]\n\n[CIT-1-02] " + again + "\n\n" + again + " [CIT-1-03] Recovery reads the log from its last checkpoint on.": said + " [CIT-1-01]\n\nRecovery reads the log from its last checkpoint on.",
		said + "\n\n- " + said + "\n\n```\n" + said + "\n```":                                                                            said + "\n\n- " + said + "\n\n```\n" + said + "\n```",
	} {
		if got, _ := withoutRepeats(in, new(extractive.Seen)); got != want {
			t.Errorf("withoutRepeats(%q)\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestUncited(t *testing.T) {
	t.Parallel()
	body := "The log is written before the data pages are altered [CIT-1-01]. The standby applies its records at once. [CIT-2-01] Nobody has measured how long this takes.\n\n```\nThis line of code is no sentence at all.\n```"
	if n := uncited(body); n != 1 {
		t.Errorf("%d uncited sentences, want 1", n)
	}
}

// testSubject makes a subject whose claims say these things.
func testSubject(id, title string, statements ...string) subject {
	s := subject{id: id, title: title, blocks: []topicqueue.Block{{ID: id}}}
	for _, text := range statements {
		s.claims = append(s.claims, claim{
			Claim:  topicqueue.Claim{CitationID: "CIT-1-01", Text: text, Quote: text},
			source: topicqueue.Source{ID: text, Document: "manual.html"}, block: id,
		})
	}
	return s
}

func TestMerge(t *testing.T) {
	t.Parallel()
	subjects := []subject{
		testSubject("block_1", "EU banks 2024", "a"), testSubject("block_2", "EU banks 2025", "b"),
		testSubject("block_3", "Locks in practice", "c"), testSubject("block_4", "Practical locking", "d"), testSubject("block_5", "Queues", "e"),
	}
	group := func(title string, ids ...string) prompts.MergeGroup {
		return prompts.MergeGroup{Title: title, BlockIDs: ids}
	}
	for name, tt := range map[string]struct {
		groups []prompts.MergeGroup
		want   []string // id: title: claims
	}{
		"none":          {nil, []string{"block_1 EU banks 2024 a", "block_2 EU banks 2025 b", "block_3 Locks in practice c", "block_4 Practical locking d", "block_5 Queues e"}},
		"years differ":  {[]prompts.MergeGroup{group("EU banks", "block_1", "block_2")}, []string{"block_1 EU banks 2024 a", "block_2 EU banks 2025 b", "block_3 Locks in practice c", "block_4 Practical locking d", "block_5 Queues e"}},
		"two":           {[]prompts.MergeGroup{group("1. Locking", "block_4", "block_9", "block_3", "block_3")}, []string{"block_1 EU banks 2024 a", "block_2 EU banks 2025 b", "block_3 Locking cd", "block_5 Queues e"}},
		"in two groups": {[]prompts.MergeGroup{group("", "block_3", "block_4"), group("", "block_4", "block_5")}, []string{"block_1 EU banks 2024 a", "block_2 EU banks 2025 b", "block_3 Locks in practice cd", "block_5 Queues e"}},
		"alone":         {[]prompts.MergeGroup{group("X", "block_5"), group("Y"), group("Z", "block_9")}, []string{"block_1 EU banks 2024 a", "block_2 EU banks 2025 b", "block_3 Locks in practice c", "block_4 Practical locking d", "block_5 Queues e"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, s := range merge(subjects, tt.groups) {
				line := s.id + " " + s.title + " "
				for _, c := range s.claims {
					line += c.Text
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLocalGroups(t *testing.T) {
	t.Parallel()
	same := []string{"a", "b", "c", "d", "e"}
	got := localGroups([]subject{
		testSubject("block_1", "Locks in threads", same...), testSubject("block_2", "Waiting", same...),
		testSubject("block_3", "Threads in locks", "x"), testSubject("block_4", "Version 3 of it", same...), testSubject("block_5", "Queues", "a", "b", "z"),
	}, english)
	want := []prompts.MergeGroup{{Title: "Locks in threads and Waiting", BlockIDs: []string{"block_1", "block_2", "block_3"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDiffer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"EU banks 2024", "EU banks 2025", true}, {"EU banks", "UK banks", true}, {"Banks", "Banks 2024", true},
		{"Locks in practice", "Practical locking", false}, {"Locks in Go", "Locks", false}, {"Memory Model", "The Memory", false},
		{"banking rules in France", "banking rules in Spain", true}, {"", "", false},
	} {
		if got := differ(tt.a, tt.b); got != tt.want || differ(tt.b, tt.a) != got {
			t.Errorf("differ(%q, %q) = %v, want %v, symmetric", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestPack(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100)
	var claims []claim
	for _, s := range []subject{testSubject("block_1", "", "a1"+long, "a2"+long, "a3"+long, "a1"+long), testSubject("block_2", "", "b1"+long)} {
		claims = append(claims, s.claims...)
	}
	each := size(claimLine(claims[0]))
	got, left := pack(claims, 2*each)
	var texts []string
	for _, c := range got {
		texts = append(texts, c.Text[:2])
	}
	if diff := cmp.Diff([]string{"a1", "b1"}, texts); diff != "" || left != 3 {
		t.Errorf("left out %d, want 3 (-want +got):\n%s", left, diff)
	}
	if got, left := pack(claims[:1], 1); len(got) != 1 || left != 0 {
		t.Errorf("a single claim must always fit: %d, %d left out", len(got), left)
	}
}

func TestCountWords(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{"": 0, "# A title": 2, "It's *one* [CIT-1-01].": 2, "数据库 log": 4, "a-b c/d": 3} {
		if got := countWords(in); got != want {
			t.Errorf("countWords(%q) = %d, want %d", in, got, want)
		}
	}
}
