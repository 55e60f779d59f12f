package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"nightdesk/cmd/nightdesk/benchtest"
	"nightdesk/cmd/nightdesk/manual"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// first are the scripts that run with -short and with the race detector: those in which a command does most at a time.
var first = []string{"ask", "bulk", "queue", "run_extractive", "watch"}

// scripts returns the scripts that run: all, or the first.
func scripts(t *testing.T) (files []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(all) < len(first) {
		t.Fatalf("%d scripts, %v", len(all), err)
	}
	if !testing.Short() && (!scaletest.Race || scaletest.Full) {
		return all
	}
	for _, name := range first {
		files = append(files, filepath.Join("testdata", "script", name+".txtar"))
	}
	return files
}

// TestScripts runs testdata/script/*.txtar: one behaviour each, with exit code, standard output and standard error.
// Scripts that need a Redis call `redis`, those that need a model server call `model`.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Files: scripts(t),
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("EMBEDDING_MODEL", "none") // the built-in model would be fetched
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Values["t"] = t
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"redis":      startRedis,
			"noredis":    noRedis,
			"model":      startModel,
			"asked":      checkAsked,
			"embeddings": startEmbeddings,
			"example":    writeExample,
			"exits":      exits,
			"report":     lastLineIsReport,
			"shortid":    setShortID,
			"repeat":     repeat,
			"waitfor":    waitFor,
			"soon":       soon,
			"becomes":    becomes,
			"digested":   waitDigest,
			"hooks":      startHooks,

			"overdue": makeOverdue,
			"ended":   scheduleEnded,

			"firstrun": firstRun,
			"messages": checkMessages,
			"followed": checkFollowed,
			"cut":      cutStream,
			"watched":  awaitWatched,
			"forget":   forgetRun,
			"damage":   damageRun,
			"waitline": waitLine,
			"site":     startSite,
			"search":   startSearch,
			"left":     checkLeft,
			"intranet": startIntranet,
			"speech":   startSpeech,
		},
		RequireExplicitExec: true,
	})
}

// startRedis starts a private redis-server and sets REDIS_URL.
func startRedis(ts *testscript.TestScript, _ bool, _ []string) {
	t, _ := ts.Value("t").(*testing.T)
	ts.Setenv("REDIS_URL", "redis-socket://"+redistest.Socket(t))
}

// noRedis leaves only nightdesk itself on PATH: a machine without redis-server.
func noRedis(ts *testscript.TestScript, _ bool, _ []string) {
	own, _, _ := strings.Cut(ts.Getenv("PATH"), string(filepath.ListSeparator))
	ts.Setenv("PATH", own)
}

// startModel starts a stub model server and points nightdesk to it: model [anthropic|ollama]
// [refuse|broken|reads|keyless|hangs].
func startModel(ts *testscript.TestScript, _ bool, args []string) {
	stub := &llmtest.Stub{Models: []string{"stub"}}
	provider := "openai"
	for _, a := range args {
		switch a {
		case "anthropic", "ollama":
			provider = a
		case "refuse":
			stub.Refuse = []string{"response_format", "tools", "format"}
		case "reads":
			stub.Answer = readsHeatPumps
		case "asks": // once, what the topic means
			stub.Answer = func(q llmtest.Question) (string, bool) {
				if !strings.HasPrefix(q.Name, "clarify") {
					return readsHeatPumps(q)
				}
				ask := !strings.Contains(q.User, "The user answered")
				return fmt.Sprintf(`{"reason":"It is open.","ask":%v,"question":"Which houses do you mean?"}`, ask), true
			}
		case "prices": // asks the tool prices, and reads what it returns
			stub.Answer = func(q llmtest.Question) (string, bool) {
				text, ok := readsHeatPumps(q)
				return strings.Replace(text, `"query":"defrost cycle of a heat pump","rationale":"a gap","tool_type":"rag_hybrid"`,
					`"query":"{\"item\":\"heat pump\"}","rationale":"a price","tool_type":"shop_prices"`, 1), ok
			}
			stub.Converse = func(q llmtest.Question) (string, []llmtest.Call, bool) {
				if !strings.Contains(q.User, `{"item":"heat pump"}`) {
					return "", []llmtest.Call{{Name: "shop_prices", Query: `{"item":"heat pump"}`}}, true
				}
				return "The price is 900 euros [CIT-1-01].", nil, true
			}
		case "hangs": // in the second iteration of every topic block
			end := make(chan struct{})
			defer ts.Defer(func() { close(end) }) // before the server is closed
			stub.Answer = func(q llmtest.Question) (string, bool) {
				if benchtest.IterationOf(q.User) > 1 {
					<-end
				}
				return readsHeatPumps(q)
			}
		case "broken":
			stub.BreakEvery = 2
		case "keyless":
			stub.Intercept = func(w http.ResponseWriter, _ llmtest.Question) bool {
				http.Error(w, `{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}`, http.StatusUnauthorized)
				return true
			}
		default:
			ts.Fatalf("model: unknown word %s", a)
		}
	}
	var heard questions
	intercept := stub.Intercept
	stub.Intercept = func(w http.ResponseWriter, q llmtest.Question) bool {
		heard.add(q)
		return intercept != nil && intercept(w, q)
	}
	heardOf.Store(ts, &heard)
	ts.Defer(func() { heardOf.Delete(ts) })
	server := httptest.NewServer(stub)
	ts.Defer(server.Close)
	ts.Setenv("LLM_PROVIDER", provider)
	ts.Setenv("LLM_MODEL", "stub")
	ts.Setenv("LLM_BASE_URL", server.URL+"/v1")
}

// startEmbeddings starts an embedding server: embeddings [WORD=MEANING]...
func startEmbeddings(ts *testscript.TestScript, _ bool, args []string) {
	means := map[string]string{}
	for _, a := range args {
		word, meaning, _ := strings.Cut(a, "=")
		means[word] = meaning
	}
	server := httptest.NewServer(&llmtest.Embeddings{Means: means})
	ts.Defer(server.Close)
	ts.Setenv("EMBEDDING_MODEL", "stub")
	ts.Setenv("EMBEDDING_BASE_URL", server.URL+"/v1")
}

// writeExample writes an example of the manual to a file: example TOPIC LANGUAGE FILE.
func writeExample(ts *testscript.TestScript, _ bool, args []string) {
	topic, _ := manual.Find(args[0])
	_, text, ok := strings.Cut(topic.Text, "```"+args[1]+"\n")
	text, _, _ = strings.Cut(text, "```")
	if !ok {
		ts.Fatalf("the topic %s has no example in %s", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(text), 0o600))
}

// heardOf has the questions to the model of each script that runs.
var heardOf sync.Map // of *testscript.TestScript: *questions

// questions are what a model was asked.
type questions struct {
	mu   sync.Mutex
	list []llmtest.Question
}

func (h *questions) add(q llmtest.Question) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, q)
}

// checkAsked checks all questions to the model whose name matches, and that there was one: asked NAME TEXT; with !,
// that none of them has the text.
func checkAsked(ts *testscript.TestScript, neg bool, args []string) {
	value, ok := heardOf.Load(ts)
	if !ok || len(args) != 2 {
		ts.Fatalf("usage, after model: asked NAME TEXT")
	}
	name, text := regexp.MustCompile("^("+args[0]+")"), regexp.MustCompile(args[1])
	heard, _ := value.(*questions)
	heard.mu.Lock()
	defer heard.mu.Unlock()
	n := 0
	for _, q := range heard.list {
		if !name.MatchString(q.Name) {
			continue
		}
		if n++; text.MatchString(q.User) == neg {
			ts.Fatalf("the question %q:\n%s", q.Name, q.User)
		}
	}
	if n == 0 {
		ts.Fatalf("no question is called %s", args[0])
	}
}

var (
	heatPumps = regexp.MustCompile(`(The ratio|Ice on) [^.\n]*\.`)
	cited     = regexp.MustCompile(`\[CIT-\d+-\d+\]`)
)

// readsHeatPumps answers as a model that reads what it is given. It knows a question by the answer that it wants.
func readsHeatPumps(q llmtest.Question) (string, bool) {
	asksFor := func(property string) bool {
		return strings.Contains(string(q.Schema), `"`+property+`":{"type":"array"`)
	}
	var answer any
	type object = map[string]any
	switch {
	case strings.HasPrefix(q.Name, "clarify"):
		answer = object{"reason": "It is clear.", "ask": false, "question": ""}
	case asksFor("sub_topics"):
		answer = object{"sub_topics": []object{{"title": "Heat pumps in winter", "overview": "How they work. What ice does.", "queries": []string{"heat pump winter"}}}}
	case asksFor("actions"):
		answer = object{"reasoning": "More is needed.", "is_sufficient": false, "new_sub_topics": []object{},
			"actions": []object{{"tool_type": "rag_hybrid", "query": "defrost cycle of a heat pump", "rationale": "a gap"}}}
	case asksFor("sections"):
		answer = object{"form": "explanation", "computations": []object{}, "key_claims": []int{}, "title": "Heat pumps", "introduction": "Begin.", "conclusion": "End.",
			"sections": []object{{"title": "In winter", "instruction": "Tell.", "block_ids": []string{"block_1"}, "claims": []int{}, "subsections": []object{}}}}
	case asksFor("claims"):
		claims := []object{}
		for _, quote := range heatPumps.FindAllString(q.User, 1) {
			claims = append(claims, object{"source": 1, "block": "", "text": quote, "quote": quote})
		}
		answer = object{"summary": "It says how they work.", "claims": claims}
	case asksFor("findings"):
		findings := []object{}
		for i := range strings.Count(q.User, "\nSentence ") {
			places := []string{llmtest.PlaceOf(q.User, heatPumps.FindString(q.User))}
			findings = append(findings, object{"sentence": i + 1, "places": places, "sum": "", "wrong": "", "verdict": "supported", "text": ""})
		}
		answer = object{"findings": findings}
	case q.Schema == nil:
		return "Heat pumps work in winter " + strings.Join(cited.FindAllString(q.User, 2), " ") + ".", true
	default:
		return "", false
	}
	text, err := json.Marshal(answer)
	return string(text), err == nil
}

// exits runs a command that must end with an exit code: exits 2 nightdesk run ..., or exits 1,3 ...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		_, got, _ = strings.Cut(err.Error(), "exit status ")
	}
	if !slices.Contains(strings.Split(args[0], ","), got) {
		ts.Fatalf("%s ended with %q (%v), want exit status %s", strings.Join(args[1:], " "), got, err, args[0])
	}
}

// lastLineIsReport checks that the last line of standard output is the path of a report, copies it to report.md, and
// sets RUN to the run's id.
func lastLineIsReport(ts *testscript.TestScript, _ bool, _ []string) {
	lines := strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")
	text := ts.ReadFile(lines[len(lines)-1])
	if !strings.HasPrefix(text, "# ") || !strings.Contains(text, "## References") {
		ts.Fatalf("%s is not a report:\n%s", lines[len(lines)-1], text)
	}
	ts.Check(writeFile(ts.MkAbs("report.md"), text))
	ts.Setenv("RUN", strings.TrimSuffix(filepath.Base(lines[len(lines)-1]), ".md"))
}

// setShortID sets SHORT to the last ten characters of RUN.
func setShortID(ts *testscript.TestScript, _ bool, _ []string) {
	run := ts.Getenv("RUN")
	ts.Setenv("SHORT", run[len(run)-10:])
}

// waitFor waits until so many runs of a batch have ended: waitfor BATCH N.
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	until(ts, "the end of batch "+args[0], func() bool {
		ts.Check(ts.Exec("nightdesk", "status", args[0], "--json"))
		var s struct {
			States      map[string]int
			Unpublished int
		}
		ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &s))
		return fmt.Sprint(s.States["completed"]+s.States["partial"]+s.States["failed"]+s.States["cancelled"]) == args[1] && s.Unpublished == 0
	})
}

// becomes waits until what `status RUN` prints has a text: becomes RUN TEXT.
func becomes(ts *testscript.TestScript, _ bool, args []string) {
	until(ts, args[1]+" in the status of run "+args[0], func() bool {
		ts.Check(ts.Exec("nightdesk", "status", args[0]))
		return strings.Contains(ts.ReadFile("stdout"), args[1])
	})
}

// soon sets a variable to a time that far from now: soon NAME 5s.
func soon(ts *testscript.TestScript, _ bool, args []string) {
	d, err := time.ParseDuration(args[1])
	ts.Check(err)
	ts.Setenv(args[0], time.Now().Add(d).Format(time.RFC3339))
}

// repeat writes a file of so many letters: repeat N FILE.
func repeat(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(writeFile(ts.MkAbs(args[1]), strings.Repeat("x", n)))
}
