package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/bundle"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// deepResearchBench is the report format of Deep Research Bench: https://github.com/Ayanami0730/deep_research_bench,
// data/test_data/raw_data/MODEL.jsonl. Its quality criteria (RACE) read the text. Its citation check (FACT) reads the
// numbers in the text and the addresses in the list at its end.
const deepResearchBench = "deep-research-bench"

// printBenchmark prints the reports of a batch or a run, one JSON line each.
func printBenchmark(ctx context.Context, con *view.Console, store storage.Store, name string) error {
	runs, err := bundle.Archive{Store: store}.Runs(con.Log.WithContext(ctx))
	if err != nil {
		return err
	}
	found, missing := 0, 0
	for _, run := range runs {
		if run.Batch != name && run.ID != name {
			continue
		}
		found++
		article, err := bundle.Article(ctx, store, run.ID)
		if errors.Is(err, storage.ErrNotExist) {
			missing++
			continue
		}
		if err != nil {
			return fmt.Errorf("read the report of run %s: %w", run.ID, err)
		}
		line := map[string]any{"id": benchmarkID(run), "prompt": run.Topic, "article": article}
		if err := con.PrintJSON(line, true); err != nil {
			return err
		}
	}
	switch {
	case found == 0:
		return view.NoSuch(name)
	case missing > 0:
		return view.Ended(fmt.Errorf("%s without a report left out", view.Counted(missing, "run")), view.ExitPartial)
	}
	return nil
}

// benchmarkID returns the topic's id from its list, as a number if it is one. Without such an id it returns the run id.
func benchmarkID(run topicqueue.Run) any {
	if n, err := strconv.Atoi(run.Ref); err == nil && strconv.Itoa(n) == run.Ref {
		return json.Number(run.Ref)
	}
	return cmp.Or(run.Ref, run.ID)
}
