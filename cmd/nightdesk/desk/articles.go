package desk

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

// Article is a report in the format of Deep Research Bench: https://github.com/Ayanami0730/deep_research_bench,
// data/test_data/raw_data/MODEL.jsonl. Its quality criteria (RACE) read the text. Its citation check (FACT) reads the
// numbers in the text and the addresses in the list at its end.
type Article struct {
	Article string `json:"article"`
	ID      any    `json:"id"` // a number if it is one in the list of topics
	Prompt  string `json:"prompt"`
}

// Articles calls yield for the reports of a batch or a run. missing is the number of runs without a report.
func (d *Desk) Articles(ctx context.Context, name string, yield func(Article) error) (missing int, err error) {
	runs, err := d.Stored(ctx)
	if err != nil {
		return 0, err
	}
	err = view.NoSuch(name)
	for _, run := range runs {
		if run.Batch != name && run.ID != name {
			continue
		}
		text, readErr := bundle.Article(ctx, d.Store, run.ID)
		switch {
		case errors.Is(readErr, storage.ErrNotExist):
			missing++
			err = nil
			continue
		case readErr != nil:
			return missing, fmt.Errorf("read the report of run %s: %w", run.ID, readErr)
		}
		if err = yield(Article{text, articleID(run), run.Topic}); err != nil {
			return missing, err
		}
	}
	return missing, err
}

// articleID returns the topic's id from its list, as a number if it is one. Without such an id it returns the run id.
func articleID(run topicqueue.Run) any {
	if n, err := strconv.Atoi(run.Ref); err == nil && strconv.Itoa(n) == run.Ref {
		return json.Number(run.Ref)
	}
	return cmp.Or(run.Ref, run.ID)
}
