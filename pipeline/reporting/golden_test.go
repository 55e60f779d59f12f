package reporting_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/reporting"
	"nightdesk/pipeline/reporting/reportingtest"
	"nightdesk/topicqueue"
)

var update = flag.Bool("update", false, "rewrite the golden reports")

const outlineReply = `{"title": "## 1. Committed data survives a server failure", "form": "explanation", "computations": [], "key_claims": [], "introduction": "Say what the answer depends on.",
"sections": [
 {"title": "1. Introduction", "instruction": "", "block_ids": [], "subsections": []},
 {"title": "2. The log [CIT-1-01]", "instruction": "Explain the log.", "block_ids": ["block_1", "block_99"], "subsections": [
   {"title": "2.1 Checkpoints", "instruction": "Explain checkpoints."}, {"title": "The log", "instruction": ""}]},
 {"title": "Copies on other machines", "instruction": "Compare both kinds.", "block_ids": ["block_2", "block_1"], "subsections": []}
], "conclusion": "Weigh."}`

// writer answers as a good model does, with the slips that good models make.
func writer(req llm.Request) (string, error) {
	switch req.Prompt.Name {
	case "deduplicate":
		return `{"groups": [{"title": "Replication to standby servers", "block_ids": ["block_2", "block_4", "block_77"]}]}`, nil
	case "outline":
		return outlineReply, nil
	case "judge": // which has nothing to say
		return `{"findings": []}`, nil
	case "renew": // what has moved says itself which sections it concerns
		return `{"sections": []}`, nil
	}
	return authored(req, section), nil
}

// section is the text of a part of a report by its title.
func section(title string) string {
	switch title {
	case "opening":
		return "# Introduction\n\nA commit is as safe as the slowest place it waits for: the disk of one machine [CIT-1-01] or a second machine [CIT-2-01]."
	case "conclusion":
		return "The log protects against a crash [CIT-1-01], a synchronous standby also against the loss of the machine [[CIT-2-01](#ref-cit-2-01)]. Costs stay open."
	case "The log":
		return "Here is the section:\n\n## The log\n\nEvery change is appended to the log before the pages are altered [CIT-1-01]. It was invented in 1992 [7]. " +
			"Recovery applies the records again [CIT-1-1, CIT-9-09].\n\n```sql\nSET x[7] = '[CIT-1-01]';\n```\n\n# Checkpoints\n\n" +
			"A checkpoint marks the place from which recovery starts (CIT-1-02). See [the docs](https://evil.example/x).\n\n## References\n\n[1] Made up."
	case "Copies on other machines":
		return "| Kind | Commit waits |\n|---|---|\n| synchronous | for one standby [CIT-2-01] |\n| asynchronous | no [CIT-2-01] |\n\n" +
			"Every change is appended to the log before the pages are altered [CIT-2-01]. A field report saw no loss 【CIT-2-03】."
	}
	return "The drive's cache can lose commits [CIT-3-01]."
}

// isGolden fails the test when a report is not the one in a file of testdata.
func isGolden(t *testing.T, file, report string) {
	t.Helper()
	golden := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(golden, []byte(report), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), report); diff != "" {
		t.Errorf("report differs from %s; run with -update and read the change (-want +got):\n%s", golden, diff)
	}
}

func TestGoldenReports(t *testing.T) {
	t.Parallel()
	models := map[string]llm.Model{
		"extractive": nil,
		"model":      modelFunc(writer),
		"failing":    modelFunc(func(llm.Request) (string, error) { return "", errors.New("connection refused") }),
	}
	for name, model := range models {
		for _, style := range []string{topicqueue.CitationAnchors, topicqueue.CitationNumbered} {
			t.Run(name+"/"+style, func(t *testing.T) {
				t.Parallel()
				in := evidence(t, style)
				got, err := (&reporting.Reporter{Model: model, Now: now}).Report(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				isGolden(t, name+"."+style+".golden.md", got.Markdown)
				checkStructure(t, in, got, style)
				if model == nil {
					for _, v := range reportingtest.CheckVerbatim(got.Markdown, sourceText(in)) {
						t.Error(v)
					}
				}
			})
		}
	}
}
