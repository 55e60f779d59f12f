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

// The page and the document of a report are part of its bundle, in both styles of citations.
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
			b.wait(id)
			w.Stop()
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

// A form that cannot be made costs that form, and not the report.
func TestFormatsFail(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.InProcess(t), nil)
	b.services.Format = func(name string, _ formats.Report) ([]byte, error) {
		if name == formats.NameHTML {
			panic("a defect")
		}
		return nil, errors.New("no room")
	}
	o := options(2, 1, 2)
	o.Formats = formats.Names()
	w := b.start(jobs.Settings{})
	id := b.enqueue(topic, o, "")
	b.wait(id)
	w.Stop()
	if run := b.run(id); run.State != topicqueue.RunCompleted {
		t.Errorf("it is %s: %s", run.State, run.Reason)
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
	if got := fmt.Sprint(metadata.Formats); got != "[{html  make the html of the report: panic: a defect} {docx  no room}]" {
		t.Errorf("the metadata say %s", got)
	}
}

func get(t *testing.T, store storage.Store, key string) []byte {
	t.Helper()
	body, err := store.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
