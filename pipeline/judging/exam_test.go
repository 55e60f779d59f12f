package judging_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/judging"
	"nightdesk/pipeline/llm"
	"nightdesk/prompts"
)

var exam = struct{ texts, judge, model, key *string }{
	flag.String("exam.texts", "", "directory with a JSON file for each text"),
	flag.String("exam.judge", "", "address of a model server that speaks OpenAI's protocol, such as http://127.0.0.1:8080/v1"),
	flag.String("exam.model", "judge", "the model that is asked"),
	flag.String("exam.key", "", "its key"),
}

// examText is a text with true and false sentences about it.
type examText struct {
	ID, Language, Title, Published, Text string
	Sentences                            []examSentence
}

type examSentence struct {
	Text, Kind string
	True       bool
}

// score counts verdicts by kind of sentence.
type score map[string]map[support.Result]int

func (s score) add(kind string, r support.Result) {
	if s[kind] == nil {
		s[kind] = map[support.Result]int{}
	}
	s[kind][r]++
}

func (s score) String() string {
	var kinds []string
	for k := range s {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	var b strings.Builder
	fmt.Fprintf(&b, "%-26s %5s %10s %12s %11s\n", "", "all", "supported", "unsupported", "unverified")
	for _, k := range kinds {
		yes, no, open := s[k][support.Supported], s[k][support.Unsupported], s[k][support.Unverified]
		all := yes + no + open
		fmt.Fprintf(&b, "%-26s %5d %10d %12d %11d   %5.1f%% unsupported\n", k, all, yes, no, open, 100*float64(no)/float64(all))
	}
	return b.String()
}

// TestExam judges the sentences of a directory of texts and prints the results by kind, without a judge and with that
// of -exam.judge. A file holds {id, language, title, published, text, sentences: [{text, true, kind}]}.
func TestExam(t *testing.T) {
	if *exam.texts == "" {
		t.Skip("no texts: -exam.texts DIR")
	}
	paths, err := filepath.Glob(filepath.Join(*exam.texts, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no texts in %s: %v", *exam.texts, err)
	}
	var judge llm.Model
	if *exam.judge != "" {
		judge, err = llm.NewClient(llm.Settings{Roles: map[llm.Role]llm.RoleSettings{
			llm.Judge: {Model: *exam.model, BaseURL: *exam.judge, APIKey: *exam.key, MaxTokens: 8000},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	alone, judged := score{}, score{}
	for _, path := range paths {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var text examText
		if err := json.Unmarshal(body, &text); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		text.grade(t, judge, alone, judged)
	}
	t.Logf("without a judge:\n%s", alone)
	if judge != nil {
		t.Logf("with a judge:\n%s", judged)
	}
}

// examCall is the number of sentences per call, as in a typical section.
const examCall = 20

// grade adds the verdicts about the sentences of a text.
func (x examText) grade(t *testing.T, judge llm.Model, alone, judged score) {
	corpus := support.New([]support.Source{{ID: x.ID, Text: x.Text, About: x.Title + ". " + x.Published}})
	var open []int
	questions := make([]judging.Sentence, len(x.Sentences))
	for i, s := range x.Sentences {
		questions[i] = sentence(corpus, s.Text, x.ID)
		r := questions[i].Findings.Decide(support.Judged{})
		s.count(alone, r)
		switch {
		case s.True && r == support.Unsupported, !s.True && r == support.Supported:
			t.Logf("%s: %s: %v %s: %s", x.ID, r, s.True, s.Kind, s.Text)
		}
		if questions[i].Findings.Quotation.Result == support.Verbatim {
			s.count(judged, r)
		} else {
			open = append(open, i)
		}
	}
	if judge == nil {
		return
	}
	ordinal := 0
	for batch := range slices.Chunk(open, examCall) {
		var asked []judging.Sentence
		for _, i := range batch {
			asked = append(asked, questions[i])
		}
		about := func(support.Span) prompts.Passage { return prompts.Passage{Title: x.Title, Date: x.Published} }
		j := judging.Judge{Model: judge, Language: x.Language, Corpus: corpus, About: about}
		answers, err := j.Ask(t.Context(), llm.Position{RunID: x.ID, Ordinal: ordinal}, asked)
		if err != nil {
			t.Logf("%s: %v", x.ID, err)
		}
		for n, i := range batch {
			answer := corpus.Prove(answers[n].Judged, asked[n].Sources)
			s, r := x.Sentences[i], asked[n].Findings.Decide(answer)
			s.count(judged, r)
			if s.True && r == support.Unsupported || !s.True && r != support.Unsupported {
				t.Logf("%s: judged: %s: %v %s: %s: %+v", x.ID, r, s.True, s.Kind, s.Text, answer)
			}
		}
		ordinal++
	}
}

func (s examSentence) count(in score, r support.Result) {
	kind := fmt.Sprintf("%v %s", s.True, s.Kind)
	in.add(kind, r)
	in.add(fmt.Sprintf("%v, all", s.True), r)
	for _, figure := range []string{"figure", "computed", "magnitude", "unit", "year"} {
		if !s.True && strings.Contains(s.Kind, figure) {
			in.add("false, of these figures", r)
			break
		}
	}
}
