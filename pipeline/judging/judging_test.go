package judging_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/judging"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/prompts"
)

var (
	pump   = support.Source{ID: "pump", About: "Title of pump. Lind. 2024-05", Text: "The heat pump reached 4,930 full-load hours in 2024. It cost 41.6 million euros."}
	survey = support.Source{ID: "survey", Text: "Marine life was not harmed.\n\n" + strings.Repeat("Nothing else was seen.\n\n", 400)}
)

// titled returns a source's description for the judge.
func titled(at support.Span) prompts.Passage {
	return prompts.Passage{Title: "Title of " + at.Source, By: "Lind", Date: "2024-05", Head: "Begin of " + at.Source}
}

func sentence(corpus *support.Corpus, text string, sources ...string) judging.Sentence {
	return judging.Sentence{Text: text, Sources: sources, Findings: corpus.Check(text, "", sources)}
}

// serve starts a model server and returns a client for the judge.
func serve(t *testing.T, provider llm.Provider, window int, answer func(q llmtest.Question) string) (llm.Model, *llmtest.Stub) {
	t.Helper()
	stub := &llmtest.Stub{Answer: func(q llmtest.Question) (string, bool) { return answer(q), true }}
	server := httptest.NewServer(stub)
	t.Cleanup(server.Close)
	client, err := llm.NewClient(llm.Settings{Roles: map[llm.Role]llm.RoleSettings{
		llm.Judge: {Provider: provider, Model: "small-checker", BaseURL: server.URL, ContextTokens: window, MaxTokens: 1000, MaxTries: 1},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return client, stub
}

func say(findings ...prompts.JudgeFinding) string {
	body, _ := json.Marshal(prompts.JudgeAnswer{Findings: findings})
	return string(body)
}

// TestJudge uses servers of all protocols, including a small checker on Ollama. Each sentence is judged once, with the
// passages of its own sources.
func TestJudge(t *testing.T) {
	t.Parallel()
	for _, provider := range []llm.Provider{llm.ProviderOpenAI, llm.ProviderAnthropic, llm.ProviderOllama} {
		t.Run(string(provider), func(t *testing.T) {
			t.Parallel()
			user := ""
			model, stub := serve(t, provider, 0, func(q llmtest.Question) string {
				user = q.User
				return say(
					prompts.JudgeFinding{Sentence: 2, Places: []string{"[2.1]"}, Wrong: "The source says that it was not.", Verdict: "Contradicted", Text: "Marine life was\nnot harmed."},
					prompts.JudgeFinding{Sentence: 1, Places: []string{"1.2", "2.1", "9.9", "1.2", ""}, Sum: "41.6 - 38.2\n= 3.4", Wrong: "x", Verdict: "supported"},
					prompts.JudgeFinding{Sentence: 1, Verdict: "contradicted"},
					prompts.JudgeFinding{Sentence: 3, Places: []string{"2.1"}, Verdict: "supported"},
					prompts.JudgeFinding{Sentence: 5, Places: []string{"1.0"}, Verdict: "supported"},
				)
			})
			corpus := support.New([]support.Source{pump, survey})
			j := judging.Judge{Model: model, Language: "en", Corpus: corpus, About: titled}
			got, err := j.Ask(t.Context(), llm.Position{}, []judging.Sentence{
				sentence(corpus, "The price was 41.6 million euros, 3.4 million above 38.2.", "pump"),
				sentence(corpus, "Marine life was harmed.", "survey"),
				sentence(corpus, "Marine life is well.", "pump"),
				sentence(corpus, "It ran for 4,930 hours.", "pump"),
				sentence(corpus, "Lind says so.", "pump"),
			})
			if err != nil || stub.Stats().Calls != 1 {
				t.Fatalf("%d calls, %v", stub.Stats().Calls, err)
			}
			for i, want := range []string{"supported pump", "contradicted survey", "supported survey", "no_answer", "supported pump"} {
				place := "-"
				if len(got[i].Places) > 0 {
					place = got[i].Places[0].Source
				}
				if said := strings.TrimPrefix(fmt.Sprintf("%s %s", got[i].Judgement, place), " -"); got[i].Missing == "" && said != want || got[i].Missing != "" && string(got[i].Missing) != want {
					t.Errorf("sentence %d: %+v, want %s", i+1, got[i], want)
				}
			}
			if got[0].Wrong != "" || got[1].Wrong == "" || got[0].Sum != "41.6 - 38.2 = 3.4" || got[4].Places[0].End != 0 || got[1].Correction != "Marine life was not harmed." ||
				got[0].Words != "It cost 41.6 million euros. ... Marine life was not harmed." || corpus.Text(got[0].Places[0]) != "It cost 41.6 million euros." {
				t.Errorf("%+v", got)
			}
			for _, part := range []string{"Title: Title of pump\nBy: Lind\nDate: 2024-05\nThe document begins: Begin of pump\n\n[1.1] The heat pump reached", " [1.2] It cost", "To look up: “3.4 million”", "Sentence 2: Marine life was harmed. {2}", "It ran for 4,930 hours. {1}"} {
				if !strings.Contains(user, part) {
					t.Errorf("no %q in\n%s", part, user)
				}
			}
		})
	}
}

// TestEverySource: a sentence that cites many sources is shown with passages of each, first those of its claims'
// quotes, however long the others are.
func TestEverySource(t *testing.T) {
	t.Parallel()
	var sources []support.Source
	var ids []string
	var quotes []support.Span
	for i, said := range []string{"Finance puts the disposable gowns at 15 % of all uses.", "We withdraw gowns after 55 cycles.", "The saving is 108,802 pounds a year.", "A use costs 2.79 pounds.", "The pilot ran in eight theatres."} {
		long := strings.Repeat(fmt.Sprintf("Gowns, cycles, uses, pounds and theatres of paper %d are described here at some length. ", i), 4)
		sources = append(sources, support.Source{ID: fmt.Sprint("s", i), Text: long + said + " " + long})
		ids = append(ids, fmt.Sprint("s", i))
		quotes = append(quotes, support.Span{Source: fmt.Sprint("s", i), Start: len(long), End: len(long) + len(said)})
	}
	corpus := support.New(sources)
	user := ""
	model, _ := serve(t, llm.ProviderOpenAI, 0, func(q llmtest.Question) string { user = q.User; return say() })
	s := sentence(corpus, "Gowns are withdrawn after 55 cycles, and 15 % of the uses stay disposable, so that with 2.79 pounds a use the saving is 108,802 pounds a year, after a pilot in eight theatres.", ids...)
	s.Quotes = quotes
	_, _ = judging.Judge{Model: model, Corpus: corpus, About: titled}.Ask(t.Context(), llm.Position{}, []judging.Sentence{s})
	for _, said := range []string{"at 15 % of all", "after 55 cycles.", "108,802 pounds a year.", "costs 2.79", "ran in eight theatres."} {
		if !strings.Contains(user[:strings.Index(user, "Sentence 1:")], said) {
			t.Errorf("no %q in\n%s", said, user)
		}
	}
}

// TestPlacesOfFigures: a sentence with figures from many places of one source is shown with each of these places.
func TestPlacesOfFigures(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("Visits rose, lending rose, and of euros there is talk. ", 8)
	var text strings.Builder
	for _, said := range []string{"In six months 61,200 visits were counted.", "A year before the branch had 49,800.", "Lending rose to 91,500 items.", "The hours cost 46,800 euros."} {
		text.WriteString(filler + said + " ")
	}
	corpus := support.New([]support.Source{{ID: "report", Text: text.String()}, pump})
	user := ""
	model, _ := serve(t, llm.ProviderOpenAI, 0, func(q llmtest.Question) string { user = q.User; return say() })
	s := sentence(corpus, "Visits rose from 49,800 to 61,200, lending to 91,500 items, for 46,800 euros.", "report", "pump")
	_, _ = judging.Judge{Model: model, Corpus: corpus, About: titled}.Ask(t.Context(), llm.Position{}, []judging.Sentence{s})
	for _, said := range []string{"61,200 visits", "49,800", "91,500 items", "46,800 euros"} {
		if !strings.Contains(user[:strings.Index(user, "Sentence 1:")], said) {
			t.Errorf("no %q in\n%s", said, user)
		}
	}
}

// TestShown: a passage is shown with its headings, the line above its table and the table's header. Metadata of a
// source is shown once.
func TestShown(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("Nothing of it is told here, and nothing of the harbours.\n\n", 150)
	harbours := support.Source{ID: "harbours", Text: "# Yearbook\n\n## Trade\n\n" + filler +
		"### Ships\n\nShips by harbour (thousands)\n\n" +
		"| Harbour | Ships |\n|---|---|\n" + strings.Repeat("| Ashby | 12 |\n", 80) + "| Corr | 31 |\n| Dray | 17 |\n\n" +
		filler + "Fees rose from 41.6 to 44.1 million crowns.\n\n" + filler +
		"## Crews\n\nThe oldest pilot was 83.\n\n" + filler +
		"The mole cost 12.5 million crowns.\n\n" + filler}
	corpus := support.New([]support.Source{harbours, pump})
	about := func(at support.Span) prompts.Passage {
		return prompts.Passage{Title: "Yearbook", By: "Lind", Date: "2024",
			Place: map[string]string{"pump": "Plant"}[at.Source]}
	}
	user := ""
	model, _ := serve(t, llm.ProviderOpenAI, 0, func(q llmtest.Question) string { user = q.User; return say() })
	j := judging.Judge{Model: model, Corpus: corpus, About: about}
	_, _ = j.Ask(t.Context(), llm.Position{}, []judging.Sentence{
		sentence(corpus, "Corr and Dray had 31,000 and 17,000 ships.", "harbours"),
		sentence(corpus, "Fees rose by 2.5 million crowns.", "harbours"),
		sentence(corpus, "The fund of mole and fees holds 56.6 million crowns.", "harbours"),
		sentence(corpus, "The pump cost less.", "pump", "harbours"),
	})
	for _, part := range []string{
		"Source 1\n<material", "Title: Yearbook\nBy: Lind\nDate: 2024\n",
		"Place: Trade › Ships\n\nShips by harbour (thousands)\n| Harbour | Ships |\n[…]\n[1.1] | Ashby | 12 |\n[1.2] | Corr | 31 |",
		"\n[…]\nPlace: Crews\n\n", "Source 2 (title, author, date and beginning as source 1)\n<material",
		"Place: Plant\n\n[2.1] The heat pump",
		"The pump cost less. {2} {1}",
	} {
		if !strings.Contains(user, part) {
			t.Errorf("no %q in\n%s", part, user)
		}
	}
	for _, part := range []string{"Title: ", "By: ", "Place: Crews", "The pump cost less."} {
		if n := strings.Count(user, part); n != 1 {
			t.Errorf("%d times %q in\n%s", n, part, user)
		}
	}
}

// TestSmallWindow: sentences that do not fit into one call are judged in halves, the last with shorter passages.
func TestSmallWindow(t *testing.T) {
	t.Parallel()
	corpus := support.New([]support.Source{survey})
	var many []judging.Sentence
	for range 40 {
		many = append(many, sentence(corpus, "Marine life was seen, and nothing else was.", "survey"))
	}
	about := func(support.Span) prompts.Passage {
		return prompts.Passage{Title: strings.Repeat("很长的标题", 100)}
	}
	for window, calls := range map[int]int{128_000: 1, 3_000: 2, 2_000: 0} {
		model, stub := serve(t, llm.ProviderOpenAI, window, func(llmtest.Question) string { return say() })
		got, err := judging.Judge{Model: model, Language: "zh", Corpus: corpus, About: about}.Ask(t.Context(), llm.Position{}, many)
		if n := stub.Stats().Calls; (calls > 0) != (err == nil) || calls < 2 && n != calls || n < calls || len(got) != len(many) ||
			got[39].Missing != support.NoAnswer {
			t.Errorf("window %d: %d calls, %v, %d answers", window, n, err, len(got))
		}
	}
}

// TestUnusable: an unusable answer about many sentences is asked for again in halves.
func TestUnusable(t *testing.T) {
	t.Parallel()
	corpus := support.New([]support.Source{survey})
	model, stub := serve(t, llm.ProviderOpenAI, 0, func(q llmtest.Question) string {
		if strings.Contains(q.User, "Sentence 30:") {
			return "I cannot do so many."
		}
		return say(prompts.JudgeFinding{Sentence: 1, Verdict: "supported"})
	})
	many := slices.Repeat([]judging.Sentence{sentence(corpus, "Marine life was seen, and nothing else was.", "survey")}, 40)
	got, err := judging.Judge{Model: model, Corpus: corpus, About: titled}.Ask(t.Context(), llm.Position{}, many)
	if err != nil || got[0].Judgement == "" || got[20].Judgement == "" || got[1].Missing == "" {
		t.Errorf("%d calls, %v, %+v", stub.Stats().Calls, err, got[0])
	}
}

// TestBrief: of a computation only its line is shown.
func TestBrief(t *testing.T) {
	t.Parallel()
	corpus := support.New([]support.Source{{ID: "sum", Text: "Price of ten pumps: 10 * 41.6 = 416\n- [CIT-1-01] A pump costs 41.6 euros.\n"}})
	user := ""
	model, _ := serve(t, llm.ProviderOpenAI, 0, func(q llmtest.Question) string { user = q.User; return say() })
	j := judging.Judge{Model: model, Corpus: corpus, About: titled, Brief: map[string]bool{"sum": true}}
	_, _ = j.Ask(t.Context(), llm.Position{}, []judging.Sentence{sentence(corpus, "Ten pumps cost 416 euros.", "sum")})
	if !strings.Contains(user, "[1.1] Price of ten pumps: 10 * 41.6 = 416\n") || strings.Contains(user, "CIT-1-01") || strings.Contains(user, "Title of") {
		t.Error(user)
	}
}

// TestCalls: no sentence is left out, no call is too large, and sentences that share sources share a call.
func TestCalls(t *testing.T) {
	t.Parallel()
	var sources []support.Source
	for r := 'a'; r <= 'z'; r++ {
		sources = append(sources, support.Source{ID: string(r), Text: strings.Repeat("Marine life. ", 300)})
	}
	sources = append(sources, support.Source{ID: "long", Text: strings.Repeat("Marine life. ", 10_000)})
	j := judging.Judge{Corpus: support.New(sources)}
	cites := func(n int, sources ...string) []judging.Sentence {
		return slices.Repeat([]judging.Sentence{{Sources: sources[:1], Others: sources[1:]}}, n)
	}
	most := judging.MostSentences
	for name, tt := range map[string]struct {
		sentences []judging.Sentence
		calls     []int
	}{
		"nothing":      {nil, nil},
		"one call":     {cites(most, "a"), []int{most}},
		"one more":     {cites(most+1, "a"), []int{most, 1}},
		"by sources":   {slices.Concat(cites(most-1, "a"), cites(5, "b"), cites(1, "a"), cites(most-5, "b")), []int{most, most}},
		"many sources": {slices.Concat(cites(5, strings.Split("abcdefghijk", "")...), cites(5, strings.Split("lmnopqrstuv", "")...)), []int{6, 4}},
		"the same":     {slices.Concat(cites(2, strings.Split("abcdefgh", "")...), cites(2, strings.Split("fghijk", "")...)), []int{4}},
		"a long one":   {cites(100, "long"), []int{75, 25}},
	} {
		var sizes []int
		seen := map[int]bool{}
		for _, call := range j.Calls(tt.sentences) {
			sizes = append(sizes, len(call))
			for _, i := range call {
				seen[i] = true
			}
			if !slices.IsSorted(call) {
				t.Errorf("%s: %v", name, call)
			}
		}
		if !slices.Equal(sizes, tt.calls) || len(seen) != len(tt.sentences) {
			t.Errorf("%s: %v, want %v", name, sizes, tt.calls)
		}
	}
}
