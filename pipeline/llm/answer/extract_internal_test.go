package answer

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"nightdesk/topicqueue/scaletest"
)

const noteSchema = `{"type":"object","properties":{
	"summary":{"type":"string"},
	"claims":{"type":"array","items":{"type":"object","properties":{
		"source":{"type":"integer"},"text":{"type":"string"},"quote":{"type":"string"}},
		"required":["source","text","quote"],"additionalProperties":false}},
	"enough":{"type":"boolean"}},
	"required":["summary","claims","enough"],"additionalProperties":false}`

func noteAnswer(tb testing.TB) *Schema {
	tb.Helper()
	s, err := compile(json.RawMessage(noteSchema))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestExtract(t *testing.T) {
	t.Parallel()
	const plain = `{"claims":[{"quote":"q","source":1,"text":"t"}],"enough":true,"summary":"s"}`
	const text = `{"summary":"s","claims":[{"source":1,"text":"t","quote":"q"}],"enough":true}`
	with := func(old, new string) string { return strings.Replace(text, old, new, 1) }
	s := noteAnswer(t)
	for _, tc := range []struct {
		name, text string
		cut        bool
		want       string // empty = no answer
	}{
		{"plain", text, false, plain},
		{"escapes for terminals", with(`"s"`, `"\u001b[31ms\u202e\u200b\ufeff"`), false, strings.Replace(plain, `"s"`, `"[31ms"`, 1)},
		{"fence", "```json\n" + text + "\n```", false, plain},
		{"prose around", "Here it is:\n" + text + "\nI hope {that} helps.", false, plain},
		{"prose with braces", "In the set {x | x > 0} and \\frac{a}{b} we find: " + text, false, plain},
		{"open brace before", "A { is a brace. " + text, false, plain},
		{"example before", `Such as {"summary":"example"} or {"a":{"b":1}}. Answer: ` + text, false, plain},
		{"example after", text + ` For example {"summary":"x"}`, false, plain},
		{"braces in strings", with(`"s"`, `"s } { \" }"`), false, strings.Replace(plain, `"s"`, `"s } { \" }"`, 1)},
		{"thinking", `<think>maybe {"summary":"x","claims":[],"enough":false}?</think>` + text, false, plain},
		{"lone closing tag", `{"summary":"x"}? No.</think>` + "\n" + text, false, plain},
		{"think that is never closed", `<think>so: ` + text, false, plain},
		{"think property", `{"think":"hm",` + text[1:], false, plain},
		{"unknown member", `{"confidence":1,` + text[1:], false, plain},
		{"list around", "[" + text + "]", false, plain},
		{"wrapped", `{"answer":` + text + `}`, false, plain},
		{"tool call", `{"name":"note","arguments":` + mustJSON(text) + `}`, false, plain},
		{"single object for a list", `{"summary":"s","claims":{"source":1,"text":"t","quote":"q"},"enough":true}`, false, plain},
		{"null for a list", `{"summary":"s","claims":null,"enough":true}`, false, `{"claims":[],"enough":true,"summary":"s"}`},
		{"list missing", `{"summary":"s","enough":true}`, false, `{"claims":[],"enough":true,"summary":"s"}`},
		{"list missing in a cut answer", `{"summary":"s","enough":true}`, true, ``},
		{"numbers and words as strings", with(`"source":1`, `"source":"1"`)[:0] + strings.Replace(with(`"source":1`, `"source":"1"`), "true", `"True"`, 1), false, plain},
		{"number for a string", with(`"t"`, `7`), false, strings.Replace(plain, `"t"`, `"7"`, 1)},
		{"1.0 for an integer", with(`"source":1`, `"source":1.0`), false, plain},
		{"half for an integer", with(`"source":1`, `"source":1.5`), false, ``},
		{"huge exponent", with(`"source":1`, `"source":1e999999999`), false, ``},
		{"trailing comma", with(`true}`, `true,}`), false, plain},
		{"single quotes", strings.ReplaceAll(text, `"`, `'`), false, plain},
		{"Python", `{'summary': 's', 'claims': [{'source': 1, 'text': 't', 'quote': 'q'}], 'enough': True}`, false, plain},
		{"comment", with(`"claims"`, "// the claims\n\"claims\""), false, plain},
		{"unquoted keys", `{summary:"s",claims:[{source:1,text:"t",quote:"q"}],enough:true}`, false, plain},
		{"quotes in a string", with(`"s"`, `"a "quoted" word"`), false, strings.Replace(plain, `"s"`, `"a \"quoted\" word"`, 1)},
		{"line break in a string", with(`"s"`, "\"a\n\tb\""), false, strings.Replace(plain, `"s"`, `"a\n\tb"`, 1)},
		{"brace missing", text[:len(text)-1], false, plain},
		{"brace missing before a fence", "```json\n" + text[:len(text)-1] + "\n```", false, plain},
		{"LaTeX", with(`"s"`, `"\frac{\beta}{\theta}, \nu \rho \nabla \times \tau \text{x} \begin{a} \alpha \(x\)\n\nnext"`), false,
			strings.Replace(plain, `"s"`, `"\\frac{\\beta}{\\theta}, \\nu \\rho \\nabla \\times \\tau \\text{x} \\begin{a} \\alpha \\(x\\)\n\nnext"`, 1)},
		{"cut in the last claim", `{"summary":"s","enough":true,"claims":[{"source":1,"text":"t","quote":"q"},{"source":2,"text":"t2","quo`, true, plain},
		{"cut in a string", `{"summary":"s","enough":true,"claims":[{"source":1,"text":"t","quote":"q"},{"source":2,"text":"t2","quote":"half a`, true, plain},
		{"cut behind a claim", `{"summary":"s","enough":true,"claims":[{"source":1,"text":"t","quote":"q"},`, true, plain},
		{"cut in a key", `{"summary":"s","claims":[{"source":1,"text":"t","quote":"q"}],"enough":true,"mor`, true, plain},
		{"cut before a required member", `{"summary":"s","claims":[{"source":1,"text":"t","quote":"q"}],"en`, true, ``},
		{"cut in a word", `{"summary":"s","claims":[],"enough":tru`, true, ``},
		{"cut in a sentence without notice", `{"claims":[],"enough":true,"summary":"the end is mis`, false, ``},
		{"prose", "I am sorry.", false, ``},
		{"empty object", "{}", false, ``},
		{"list", "[1,2]", false, ``},
		{"null", "null", false, ``},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, errs := s.Extract(tc.text, tc.cut)
			if string(got) != tc.want || (errs == nil) != (tc.want != "") {
				t.Errorf("got  %s\nwant %s\nerrors %q", got, tc.want, errs)
			}
		})
	}
}

func mustJSON(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(out)
}

func TestCheckListsAllErrorsWithPaths(t *testing.T) {
	t.Parallel()
	_, errs := noteAnswer(t).Extract(`{"summary":[],"claims":[{"source":"one","text":"t"}],"enough":"perhaps"}`, false)
	all := strings.Join(errs, "\n")
	for _, want := range []string{"/summary: ", "/claims/0/source: ", "/claims/0: ", "quote", "/enough: "} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
}

func TestStringsAreReadAsMeant(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`\\beta \n \t x \u00e9 \" \/`:  "\\beta \n \t x é \" /",
		`one\nnext \rest \two \before`: "one\nnext \rest \two \before",
		`\beta_1 \frac12 \Nu \nu`:      `\beta_1 \frac12 \Nu \nu`,
		`\user \u12`:                   `\user \u12`,
		`\ud83d\ude00 \ud83d`:          "😀 \ufffd",
		"x\nu\t":                       "x\nu\t",
		`a "b", c`:                     `a "b", c`,
		`it's`:                         `it's`,
		`// no comment`:                `// no comment`,
	} {
		r := reader{text: `{"a":"` + in + `","b":1}`}
		if got, ok := r.object(); !ok || got["a"] != want || got["b"] != json.Number("1") {
			t.Errorf("%q is read as %q", in, got)
		}
	}
}

// Broken objects that the cases of TestExtract do not have.
func TestBrokenObjects(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":"x,"b":[1,2]}`:                                         `{"a":"x","b":[1,2]}`,
		`{"a":"x" "b":["y" "z"]}`:                                    `{"a":"x","b":["y","z"]}`,
		`{"a":[{"b":1},{"b":2}`:                                      `{"a":[{"b":1},{"b":2}]}`,
		`{"a":[1,2,],}`:                                              `{"a":[1,2]}`,
		`{"a":{"b":1,"c":[1]} and so on`:                             `{"a":{"b":1,"c":[1]}}`,
		`{'a': 'it\'s', "b": "it's", c: None}`:                       `{"a":"it's","b":"it's","c":null}`,
		`{"a": yes, "b": /* hm */ True, # no` + "\n" + `"c":-1.5e3}`: `{"a":"yes","b":true,"c":-1.5e3}`,
		`{"a":["x","y}`:                                              `{"a":["x"]}`,
		`{"a":[{"b":[1}]}`:                                           `{"a":[{"b":[1]}]}`,
	} {
		r := reader{text: in}
		got, ok := r.object()
		if out, _ := json.Marshal(got); !ok || string(out) != want {
			t.Errorf("%s is read as %s, not %s", in, out, want)
		}
	}
}

func TestStripThinking(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"x": "x", " <think>a</think> x ": "x", "<THINK>a</think><reasoning>b</reasoning>x": "x",
		"<think>a": "", "a</think>x": "x", "a</think>b</thinking>x": "x", "<think>a <think> b</think> c</think> x": "x",
		"Some prose.\n<think>a</think>\nMore.":                     "Some prose.\n\nMore.",
		"The <think> tag opens and </think> closes.":               "The <think> tag opens and </think> closes.",
		"Models write `<think>` and `</think>`.":                   "Models write `<think>` and `</think>`.",
		`{"a":"</think>"}`:                                         `{"a":"</think>"}`,
		`<think>x</think>{"a":"</think>"}`:                         `{"a":"</think>"}`,
		"Text.\n<think>never closed":                               "Text.\n<think>never closed",
		"<think></think>\n\n<think>\n</think>\nx < y and <b>c</b>": "x < y and <b>c</b>",
	} {
		if got := StripThinking(in); got != want {
			t.Errorf("StripThinking(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestHostileAnswersAreBounded(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	s := noteAnswer(t)
	for name, text := range map[string]string{
		"brackets":     strings.Repeat("[", 200_000),
		"braces":       strings.Repeat("{", 200_000),
		"nested":       strings.Repeat(`{"a":`, 40_000),
		"nested lists": `{"claims":` + strings.Repeat("[", 200_000),
		"quotes":       strings.Repeat(`{"`, 100_000),
		"pairs":        strings.Repeat("{}", 100_000),
		"think":        strings.Repeat("\n<think>", 50_000),
		"thought":      "x" + strings.Repeat("\n<think></think>", 20_000),
		"spaces":       "<think></think>" + strings.Repeat(" ", 100_000) + "x" + strings.Repeat("<think>", 10_000),
		"closing":      strings.Repeat("</think>", 50_000),
		"commas":       `{"a" ` + strings.Repeat("1 ", 30_000) + "}",
		"deep":         strings.Repeat("[", 99) + strings.Repeat(`'a' `, 15_000),
		"backslashes":  `{"a":"` + strings.Repeat(`\`, 200_000),
	} {
		start := time.Now()
		for _, cut := range []bool{false, true} {
			if got, errs := s.Extract(text, cut); errs == nil {
				t.Errorf("%s: answer %s", name, got)
			}
		}
		// Alone this takes under half a second. Without the limits it takes minutes. The bound allows for a busy machine with
		// the race detector.
		if took := time.Since(start); took > 40*time.Second {
			t.Errorf("%s: took %s", name, took)
		} else {
			t.Logf("%s: %s", name, took)
		}
	}
}

func FuzzExtract(f *testing.F) {
	for _, seed := range []string{`{"summary":"s","claims":[],"enough":true}`, "```json\n{'summary': 's'\n```", `{"summary":"\beta`, strings.Repeat("[", 300), `<think>{"claims":[{"source":1e3}]`} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	s := noteAnswer(f)
	f.Fuzz(func(t *testing.T, text string, cut bool) {
		start := time.Now()
		answer, errs := s.Extract(text, cut)
		if took := time.Since(start); took > 40*time.Second { // see TestHostileAnswersAreBounded
			t.Fatalf("took %s", took)
		}
		if (answer == nil) == (errs == nil) {
			t.Fatalf("answer %q and errors %q", answer, errs)
		}
		if errs != nil {
			return
		}
		value, _, ok := readObject(string(answer))
		if !ok {
			t.Fatalf("answer %q", answer)
		}
		if errs := s.check(value); errs != nil {
			t.Fatalf("answer %q: %v", answer, errs)
		}
		if again, errs := s.Extract(string(answer), false); errs != nil || string(again) != string(answer) {
			t.Fatalf("answer %q reads as %q %q", answer, again, errs)
		}
	})
}

func FuzzStripThinking(f *testing.F) {
	for _, seed := range []string{"<think>a</think>x", "a</think>x", "<think>", "\n<reasoning>a</reasoning>", "`<think>`"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := StripThinking(text)
		if len(got) > len(text) || got != strings.TrimSpace(got) {
			t.Fatalf("%q became %q", text, got)
		}
		if thinkTag.FindString(text) == "" && got != strings.TrimSpace(text) {
			t.Fatalf("%q without tags became %q", text, got)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Fatalf("%q became invalid UTF-8", text)
		}
	})
}

// What encoding/json reads is read alike, but for LaTeX commands.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{`{"a":"\\beta \n"}`, `{"a b":[1.0,{"":null}],"x\"":"y"}`, `{"a":"\ud83d\ude00"}`, `{'a':1,}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		(&reader{text: text}).object()
		text = strings.TrimSpace(text)
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		var want map[string]any
		isDeep := strings.Count(text, "{")+strings.Count(text, "[") > maxDepth
		if !utf8.ValidString(text) || !json.Valid([]byte(text)) || dec.Decode(&want) != nil || want == nil || isDeep {
			return
		}
		if strings.Contains(strings.ReplaceAll(text, `\\`, ""), `\`) { // perhaps a LaTeX command
			return
		}
		if got, n, ok := readObject(text); !ok || n != len(text) || !cmp.Equal(got, want) {
			t.Fatalf("%q is read as %v, not %v", text, got, want)
		}
	})
}

func BenchmarkExtract(b *testing.B) {
	s := noteAnswer(b)
	var long strings.Builder
	long.WriteString("Here is the note.\n```json\n{\"summary\":\"s\",\"enough\":true,\"claims\":[")
	for i := 0; long.Len() < 100_000; i++ {
		if i > 0 {
			long.WriteString(",")
		}
		long.WriteString(`{"source":1,"text":"The mean of \\beta is 3.5 in 2024.","quote":"a verbatim quote of some length, with {braces} and a\nbreak"}`)
	}
	good := long.String() + "]}\n```"
	b.Run("valid", func(b *testing.B) { benchmark(b, s, good, false) })
	b.Run("cut", func(b *testing.B) { benchmark(b, s, long.String()+`,{"source":`, true) })
}

func benchmark(b *testing.B, s *Schema, text string, cut bool) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, errs := s.Extract(text, cut); errs != nil {
			b.Fatal(errs)
		}
	}
}
