package benchtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/topicqueue"
)

// Model is a stub model for research: it plans, searches, notes claims quoted from the sources, and writes a cited
// sentence for each claim. Its answers depend only on the question.
type Model struct {
	Parts  int             // number of topic blocks to plan
	Claims int             // maximum per note; 0: 1
	Web    bool            // search the web and open a page in each iteration, rather than the knowledge base
	Review func() []string // titles of the gaps that a review finds; nil: none
}

// Subjects are the subjects of the topics, sub-topics, documents and pages.
var Subjects = []string{"quays", "cranes", "pilots", "tugboats", "lighthouses", "customs", "warehouses", "dredgers",
	"moorings", "railways", "ferries", "breakwaters", "signals", "bunkers", "gangways", "locks"}

// Topic returns the i-th topic, counted from 0.
func Topic(i int) string {
	return fmt.Sprintf("How is harbour number %d operated and maintained?", i+1)
}

var (
	harbour   = regexp.MustCompile(`harbour number \d+`)
	blockName = regexp.MustCompile(`(?m)^Title: (The [a-z]+ of the harbour)$`)
	noteOwn   = regexp.MustCompile(`found for (block_\d+) with`)
	noteBlock = regexp.MustCompile(`(?m)^(block_\d+): (The [a-z]+ of the harbour)$`)
	iteration = regexp.MustCompile(`Iteration (\d+) of`)
	stating   = regexp.MustCompile(`The harbour inspects [^.]*rule [\d.]+\.|[A-Z][^.:\n]*\d{3}[^.:\n]*\.`)
	beginning = regexp.MustCompile(`(?m)^[ >]*The document begins: .*$`) // not part of the passage
	sourceNo  = regexp.MustCompile(`(?m)^Source (\d+)`)
	claimOf   = regexp.MustCompile(`\[(CIT-\d+-\d+)\] ([^\n]+)`)
	told      = regexp.MustCompile(`[A-Z][^\n]*? \[CIT-\d+-\d+\]\.`)
	pageURL   = regexp.MustCompile(`http://127\.0\.0\.1:\d+/page/[0-9a-f]+`)
	opened    = regexp.MustCompile(`open_page: (\S+)`)
	judged    = regexp.MustCompile(`(?m)^Sentence (\d+)`)
)

// HarbourOf returns the harbour that a question is about, which identifies its run, or "".
func HarbourOf(question string) string { return harbour.FindString(question) }

// BlockOf returns the title of the topic block that a question is about, or "" if there is none.
func BlockOf(question string) string {
	if m := blockName.FindStringSubmatch(question); m != nil {
		return m[1]
	}
	own := noteOwn.FindStringSubmatch(question) // a note names its block by id, below the list of all
	for _, m := range noteBlock.FindAllStringSubmatch(question, -1) {
		if own != nil && m[1] == own[1] {
			return m[2]
		}
	}
	return ""
}

// IterationOf returns the iteration of a block that a question belongs to, or 0 if it has none.
func IterationOf(question string) int {
	m := iteration.FindStringSubmatch(question)
	if m == nil {
		return 0
	}
	k, _ := strconv.Atoi(m[1])
	return k
}

type object = map[string]any

func encode(v any) (string, bool) {
	text, err := json.Marshal(v)
	return string(text), err == nil
}

// Answer answers a question. It returns false if it has no answer.
func (m Model) Answer(q llmtest.Question) (string, bool) {
	name, _, _ := strings.Cut(q.Name, "_")
	switch {
	case name == "queries":
		queries := slices.Clone(Subjects[:8])
		for i := range queries {
			queries[i] = m.query(q, queries[i])
		}
		return encode(object{"think": "", "queries": queries})
	case name == "decompose":
		var topics []object
		for _, part := range Subjects[:m.Parts] {
			topics = append(topics, object{"title": "The " + part + " of the harbour",
				"overview": "Find out how the " + part + " are kept. Note every rule.", "queries": []string{m.query(q, part)}})
		}
		return encode(object{"think": "", "sub_topics": topics})
	case name == "decide":
		return encode(object{"think": "", "reasoning": "More is needed.", "is_sufficient": false,
			"new_sub_topics": []object{}, "actions": m.actions(q)})
	case name == "note":
		return encode(object{"think": "", "summary": "Inspections are regular.",
			"claims": Statements(q.User, stating, max(1, m.Claims))})
	case name == "review":
		return m.review()
	case name == "outline":
		return m.outline()
	case name == "judge":
		findings := []object{}
		for _, s := range judged.FindAllStringSubmatch(q.User, -1) {
			n, _ := strconv.Atoi(s[1])
			findings = append(findings, object{"sentence": n, "places": []string{}, "sum": "", "wrong": "",
				"verdict": "supported", "text": ""})
		}
		return encode(object{"findings": findings})
	case q.Schema == nil:
		return m.parts(q), true
	}
	return "", false
}

// query returns a query about a subject. On the web it adds the harbour, so that each topic searches for different
// pages.
func (m Model) query(q llmtest.Question, subject string) string {
	if m.Web {
		return HarbourOf(q.User) + " " + subject
	}
	return subject
}

func (m Model) actions(q llmtest.Question) []object {
	k := max(IterationOf(q.User), 1)
	about := fmt.Sprintf("%s and the %s", BlockOf(q.User), Subjects[(k*2)%len(Subjects)])
	if !m.Web {
		return []object{{"tool_type": "rag_hybrid", "query": about, "rationale": "a gap"}}
	}
	actions := []object{{"tool_type": "web_search", "query": m.query(q, about), "rationale": "a gap"}}
	var done []string
	for _, o := range opened.FindAllStringSubmatch(q.User, -1) {
		done = append(done, o[1])
	}
	for _, address := range pageURL.FindAllString(q.User, -1) {
		if !slices.Contains(done, address) {
			return append(actions, object{"tool_type": "open_page", "query": address, "rationale": "the whole text"})
		}
	}
	return actions
}

func (m Model) review() (string, bool) {
	gaps := []object{}
	if m.Review != nil {
		for _, title := range m.Review() {
			gaps = append(gaps, object{"title": title, "overview": "Find out.", "queries": []string{title}, "parent": "",
				"reason": "It is open."})
		}
	}
	return encode(object{"think": "", "draft": "", "reasoning": "All else is answered.", "gaps": gaps})
}

func (m Model) outline() (string, bool) {
	var sections []object
	for i, part := range Subjects[:m.Parts] {
		sections = append(sections, object{"title": "How the " + part + " are kept", "instruction": "Tell.",
			"block_ids": []string{topicqueue.BlockID(i + 1)}, "claims": []int{}, "subsections": []object{}})
	}
	return encode(object{"form": "overview", "computations": []object{}, "title": "Keeping a harbour",
		"introduction": "Begin.", "conclusion": "End.", "sections": sections, "key_claims": []int{}})
}

// parts writes the parts of a report that a question asks for. Each cites some of its claims; a part without claims
// repeats a cited sentence from the question.
func (m Model) parts(q llmtest.Question) string {
	claims := claimOf.FindAllStringSubmatch(q.User, -1)
	return llmtest.Parts(q.User, func(number int, _ string) string {
		text := fmt.Sprintf("The harbour keeps calendar %d of inspections.", number)
		if len(claims) == 0 {
			return text + " " + told.FindString(q.User)
		}
		for i := range min(len(claims), max(3, m.Claims)) {
			c := claims[(number*m.Claims+i)%len(claims)]
			text += fmt.Sprintf(" %s [%s].", strings.TrimSuffix(c[2], "."), c[1])
		}
		return text
	})
}

// Statements returns claims for the sentences in a question's sources that match pattern: at most most, distributed
// evenly over the sources.
func Statements(question string, pattern *regexp.Regexp, most int) []map[string]any {
	claims := []map[string]any{}
	starts := sourceNo.FindAllStringSubmatchIndex(question, -1)
	for i, s := range starts {
		end := len(question)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		n, _ := strconv.Atoi(question[s[2]:s[3]])
		passage := beginning.ReplaceAllString(question[s[1]:end], "")
		for _, quote := range pattern.FindAllString(passage, (most+len(starts)-1)/len(starts)) {
			if len(claims) < most {
				claims = append(claims, object{"source": n, "block": "", "text": strings.Join(strings.Fields(quote), " "), "quote": quote})
			}
		}
	}
	return claims
}

// WriteDocuments writes small documents about the subjects to a directory, each with many short sections.
func WriteDocuments(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i, part := range Subjects {
		var doc strings.Builder
		fmt.Fprintf(&doc, "# The %s of a harbour\n", part)
		for j, other := range Subjects {
			fmt.Fprintf(&doc, "\n## The %s and the %s\n\n", part, other)
			for k := range 4 {
				fmt.Fprintf(&doc, "The harbour inspects the %s and the %s every %d days under rule %d.%d.%d. ", part, other,
					10+k, i+1, j+1, k+1)
			}
			doc.WriteString("\n")
		}
		if err := os.WriteFile(filepath.Join(dir, part+".md"), []byte(doc.String()), 0o600); err != nil {
			return err
		}
	}
	return nil
}
