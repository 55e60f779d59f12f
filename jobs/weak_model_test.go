package jobs_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"

	"nightdesk/pipeline/llm/llmtest"
)

// weakModel answers like a small model on a bad day. It copies instructions with their example markers, repeats itself,
// invents figures, markers and links, wraps answers in fences, HTML and reasoning, and stops in the middle of a marker.
// The same question always has the same answer.
func weakModel() *llmtest.Stub {
	return &llmtest.Stub{Answer: weakAnswer, Intercept: weakIntercept}
}

// weak holds the random choices of one answer.
type weak struct {
	*rand.Rand
	q llmtest.Question
}

func newWeak(q llmtest.Question, salt string) weak {
	h := fnv.New64a()
	_, _ = io.WriteString(h, salt+q.System+q.User) // never fails
	return weak{rand.New(rand.NewPCG(h.Sum64(), 1)), q}
}

func (w weak) once(in int) bool { return w.IntN(in) == 0 }

func oneOf[T any](w weak, list ...T) T { return list[w.IntN(len(list))] }

// weakIntercept truncates some answers without a token limit.
func weakIntercept(rw http.ResponseWriter, q llmtest.Question) bool {
	w := newWeak(q, "intercept")
	text, _ := weakAnswer(q)
	if text == "" || !w.once(12) {
		return false
	}
	body, err := json.Marshal(map[string]any{"choices": []any{map[string]any{
		"finish_reason": "length", "message": map[string]any{"role": "assistant", "content": text[:len(text)*3/4]},
	}}})
	if err != nil {
		return false
	}
	_, _ = rw.Write(body)
	return true
}

func weakAnswer(q llmtest.Question) (string, bool) {
	w := newWeak(q, "answer")
	type object = map[string]any
	var v object
	switch name, _, _ := strings.Cut(q.Name, "."); {
	case q.Schema == nil:
		return w.text(), true
	case name == "decide":
		tool := oneOf(w, "rag_hybrid", "rag_hybrid<|channel|>commentary", "rag_hybrid.exec", "search_rag", "print('x')")
		v = object{"reasoning": w.line(), "is_sufficient": w.once(3), "new_sub_topics": []object{},
			"actions": []object{{"tool_type": tool, "query": w.words(), "rationale": w.line()}}}
	case name == "note":
		v = object{"claims": w.claims()}
	case name == "outline":
		v = object{"title": w.title(), "introduction": w.line(), "conclusion": w.line(), "sections": w.outline()}
	default:
		return "", false
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "", false
	}
	return w.wrapped(string(text)), true
}

// wrapped wraps an answer as weak models do.
func (w weak) wrapped(text string) string {
	switch w.IntN(12) {
	case 0:
		return "<think>" + w.line() + "</think>\n" + text
	case 1:
		return "```json\n" + text + "\n```"
	case 2:
		return "Sure! Here is the answer:\n\n" + text + "\n\nLet me know if you need more."
	case 3:
		return "<|channel|>final<|message|>" + text
	case 4:
		return "<html><body>" + text + "</body></html>"
	}
	return text
}

// lines returns the lines that the model has read.
func (w weak) lines() []string {
	var lines []string
	for line := range strings.Lines(w.q.System + "\n" + w.q.User) {
		if line = strings.TrimSpace(line); len(line) > 20 && line[0] != '{' {
			lines = append(lines, line)
		}
	}
	return append(lines, "Nothing else is known of it.")
}

func (w weak) line() string { return oneOf(w, w.lines()...) }

func (w weak) words() string {
	words := strings.Fields(w.line())
	return strings.Join(words[:min(len(words), 3+w.IntN(8))], " ")
}

func (w weak) title() string {
	return oneOf(w, w.words(), "# "+w.words(), "<b>"+w.words()+"</b>", w.words()+" "+w.marker(), "Findings")
}

var (
	weakGiven   = regexp.MustCompile(`\[(?:PLAN|CIT-\d+)-\d+\]`)
	weakFigure  = regexp.MustCompile(`\d+`)
	weakQuoted  = regexp.MustCompile(`(?m)^>? ?([A-Z][^\n.]{30,300}\.)`)
	weakBlockID = regexp.MustCompile(`block_\d+`)
)

// marker returns a marker that was given, copied from the instructions, or invented.
func (w weak) marker() string {
	given := weakGiven.FindAllString(w.q.User, -1)
	copied := weakGiven.FindAllString(w.q.System, -1)
	if len(given) > 0 && !w.once(3) {
		id := oneOf(w, given...)
		if w.once(6) {
			return "[" + id + "(#ref-" + strings.ToLower(strings.Trim(id, "[]")) + ")]"
		}
		return id
	}
	return oneOf(w, append(copied, "[CIT-97-03]", "[CIT-0-07]", "[CIT-X-01]", "[913]", "[1]", "[^2]", "(CIT-1-01)", "【CIT-1-01】",
		"[CIT-1-01, CIT-1-02]", "[source](https://bit.ly/3xYz)", "https://example.com/a", "[CIT-1-", "[CIT-1-01](heat-pumps.md)")...)
}

// sentence returns a line of the input, true or not, with markers at its end or elsewhere.
func (w weak) sentence() string {
	text := strings.TrimLeft(w.line(), "-#> ")
	if quoted := weakQuoted.FindAllStringSubmatch(w.q.User, -1); len(quoted) > 0 && w.once(2) {
		text = oneOf(w, quoted...)[1]
	}
	if w.once(4) {
		text = weakFigure.ReplaceAllStringFunc(text, func(n string) string { return n + "7" })
	}
	switch w.IntN(8) {
	case 0:
		text = "However: " + text
	case 1:
		text = "It is said that “" + text + "”"
	case 2:
		text = "**" + text + "**"
	case 3:
		text = "<i>" + text + "</i>"
	}
	end := strings.TrimRight(text, ".")
	switch w.IntN(6) {
	case 0:
		return text
	case 1:
		return text + " " + w.marker() + w.marker()
	case 2:
		return w.marker() + " " + text
	}
	return end + " " + w.marker() + "."
}

// text returns a section: paragraphs, lists, tables, code and headings made of sentences, some of them twice.
func (w weak) text() string {
	var b strings.Builder
	last := ""
	for range 2 + w.IntN(6) {
		s := w.sentence()
		if last != "" && w.once(3) {
			s = last
		}
		last = s
		switch w.IntN(12) {
		case 0:
			b.WriteString("## " + w.title() + "\n\n")
		case 1:
			b.WriteString("- " + s + "\n- " + w.sentence() + "\n\n")
		case 2:
			fmt.Fprintf(&b, "| What | How |\n| --- | --- |\n| %s | %s |\n| x | %s |\n\n", w.words(), w.words(), w.marker())
		case 3:
			b.WriteString("> " + s + "\n\n")
		case 4:
			b.WriteString("```\n" + s + "\n```\n\n")
		case 5:
			b.WriteString("1. " + s + "\n2. " + s + "\n\n")
		case 6:
			b.WriteString("## References\n\n[1] " + w.words() + "\n[CIT-0-01] " + w.words() + "\n\n")
		case 7:
			b.WriteString("![" + w.words() + "](figure.png)\n\n")
		default:
			b.WriteString(s + " " + w.sentence() + " " + s + "\n\n")
		}
	}
	text := b.String()
	switch w.IntN(10) {
	case 0:
		return "<think>" + w.line() + "</think>\n\n" + text
	case 1:
		return "```markdown\n" + text + "```"
	case 2:
		return text[:len(text)*2/3]
	case 3:
		return "Here is the section:\n\n" + text + text
	}
	return text
}

// claims returns quotes, some of which are not in the sources.
func (w weak) claims() []map[string]any {
	claims := []map[string]any{}
	for _, m := range weakQuoted.FindAllStringSubmatch(w.q.User, -1) {
		if w.once(3) {
			continue
		}
		quote, text := m[1], m[1]
		switch w.IntN(6) {
		case 0:
			text = weakFigure.ReplaceAllString(text, "77")
		case 1:
			quote = "As everybody knows, " + quote
		case 2:
			text += " " + w.marker()
		case 3:
			text = "<b>" + text + "</b> " + w.words()
		}
		claims = append(claims, map[string]any{"source": 1 + w.IntN(2), "block": w.words(), "text": text, "quote": quote})
	}
	return claims
}

func (w weak) outline() []map[string]any {
	ids := append(weakBlockID.FindAllString(w.q.User, -1), "block_99")
	sections := []map[string]any{}
	for range 1 + w.IntN(3) {
		subsections := []map[string]any{}
		if w.once(3) {
			subsections = append(subsections, map[string]any{"title": w.title(), "instruction": w.line()})
		}
		sections = append(sections, map[string]any{"title": w.title(), "instruction": w.line(), "subsections": subsections,
			"block_ids": []string{oneOf(w, ids...), oneOf(w, ids...)}})
	}
	return sections
}
