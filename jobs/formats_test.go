package jobs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"nightdesk/jobs"
	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestFormats: the page and the document of a report are in its bundle, in both citation styles.
func TestFormats(t *testing.T) {
	t.Parallel()
	for _, style := range []string{topicqueue.CitationAnchors, topicqueue.CitationNumbered} {
		t.Run(style, func(t *testing.T) {
			t.Parallel()
			b := setup(t, redistest.InProcess(t), nil)
			o := options(2, 1, 2)
			o.Formats, o.CitationStyle = formats.Names(), style
			w := b.start(jobs.Settings{})
			id := b.enqueue(topic, o, "")
			events := b.wait(id)
			w.Stop()
			if got, want := rendering(events), "start_render_report html docx end_render_report"; got != want {
				t.Errorf("the stream tells of %s, want %s", got, want)
			}
			store := b.services.Store
			check, err := bundle.Verify(t.Context(), store, id)
			if err != nil || len(check.Problems) > 0 {
				t.Errorf("%+v, %v", check, err)
			}
			markdown := get(t, store, storage.ReportKey(id))
			page := get(t, store, storage.FormatKey(id, "html"))
			if cited := bytes.Count(markdown, []byte("](#ref-")); cited == 0 || bytes.Count(page, []byte(`class="note"`)) != cited {
				t.Errorf("%d citations, %d of the page show what they stand on", cited, bytes.Count(page, []byte(`class="note"`)))
			}
			manifest := string(get(t, store, storage.ManifestKey(id)))
			for _, name := range formats.Names() {
				key := storage.FormatKey(id, name)
				if !strings.Contains(manifest, `"`+key+`"`) {
					t.Errorf("the manifest lacks %s", key)
				}
				body := get(t, store, key)
				body[len(body)/2]++
				if err := store.Put(t.Context(), key, body); err != nil {
					t.Fatal(err)
				}
				check, err := bundle.Verify(t.Context(), store, id)
				if err != nil || !strings.Contains(fmt.Sprint(check.Problems), key+" was changed") {
					t.Errorf("a changed %s: %+v, %v", name, check, err)
				}
			}
		})
	}
}

// TestFormatsFail: a format that cannot be rendered is missing; the report remains.
func TestFormatsFail(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name           string
		docx           error
		want, metadata string
	}{
		{"one", nil, "start_render_report docx fail_partial_render_report",
			"[{html  make the html of the report: panic: a defect} {docx reports/RUN.docx }]"},
		{"all", errors.New("no room"), "start_render_report fail_all_render_report",
			"[{html  make the html of the report: panic: a defect} {docx  no room}]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, redistest.InProcess(t), nil)
			b.services.Format = func(name string, r formats.Report) ([]byte, error) {
				if name == formats.NameHTML {
					panic("a defect")
				}
				return []byte(r.Tree.Body(nil)), tc.docx
			}
			o := options(2, 1, 2)
			o.Formats = formats.Names()
			w := b.start(jobs.Settings{})
			id := b.enqueue(topic, o, "")
			events := b.wait(id)
			w.Stop()
			if run := b.run(id); run.State != topicqueue.RunCompleted {
				t.Errorf("it is %s: %s", run.State, run.Reason)
			}
			if got := rendering(events); got != tc.want {
				t.Errorf("the stream tells of %s, want %s", got, tc.want)
			}
			check, err := bundle.Verify(t.Context(), b.services.Store, id)
			if err != nil || len(check.Problems) > 0 || check.Citations == 0 {
				t.Errorf("%+v, %v", check, err)
			}
			var metadata struct {
				Formats []struct{ Format, File, Problem string }
			}
			if err := json.Unmarshal(get(t, b.services.Store, storage.MetadataKey(id)), &metadata); err != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(fmt.Sprint(metadata.Formats), id, "RUN"); got != tc.metadata {
				t.Errorf("the metadata say %s", got)
			}
		})
	}
}

// rendering returns the step keys and statuses of a stream between report and statistics.
func rendering(events []topicqueue.Event) string {
	var told []string
	for _, e := range events {
		switch e.Status {
		case topicqueue.StatusHTML, topicqueue.StatusDOCX:
			told = append(told, e.Status)
		case topicqueue.StatusPipelineStep:
			var s topicqueue.PipelineStep
			if json.Unmarshal(e.Content, &s) == nil && strings.HasSuffix(s.StepKey, "render_report") {
				told = append(told, s.StepKey)
			}
		}
	}
	return strings.Join(told, " ")
}

func get(t *testing.T, store storage.Store, key string) []byte {
	t.Helper()
	body, err := store.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
