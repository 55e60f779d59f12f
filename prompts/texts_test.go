package prompts_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// values are all parameters of texts, in singular and plural.
func values(n int) prompts.V {
	v := prompts.V{"Local": []string{"outline", "conclusion", "review"}[:min(n, 3)], "Terms": []string{"tape", "disk", "heron"}[:min(n, 3)], "Judged": n - 1}
	for _, name := range []string{"Words", "Claims", "Documents", "Sections", "Citations", "Quotes", "LeftOut", "Sentences", "Supported", "Confirmed", "Repaired",
		"Removed", "Refused", "Unsupported", "Unverified", "Conclusions", "FactsUncited", "SourcesUnread", "N", "Gaps"} {
		v[name] = n
	}
	for _, name := range []string{"Topic", "Date", "Run", "Batch", "ID", "Reason", "What", "Title", "Text", "Instead", "Language"} {
		v[name] = strings.ToLower(name)
	}
	return v
}

// Every language has every text, in singular and plural.
func TestTexts(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir("texts")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		lang := strings.TrimSuffix(f.Name(), ".yaml")
		texts := prompts.TextsIn(lang)
		if texts.Language != lang {
			t.Errorf("for %s the texts are in %s", lang, texts.Language)
		}
		all := reflect.ValueOf(*texts)
		for i := range all.NumField() {
			name := all.Type().Field(i).Name
			text, ok := all.Field(i).Interface().(prompts.Text)
			if !ok || name == "OtherLanguage" && lang != "en" {
				continue
			}
			if text == (prompts.Text{}) {
				t.Errorf("%s has no %s", lang, name)
				continue
			}
			for _, n := range []int{1, 3} {
				if got := text.With(values(n)); got == "" || strings.TrimSpace(got) != got || strings.Contains(got, "  ") || strings.Contains(got, "no value") {
					t.Errorf("%s: %s of %d is %q", lang, name, n, got)
				}
			}
		}
		if lang != "en" && (texts.Genres[topicqueue.GenrePaper] == "" || len(texts.Genres) != 14) {
			t.Errorf("%s calls %d kinds of sources", lang, len(texts.Genres))
		}
	}
}

func TestTextsIn(t *testing.T) {
	t.Parallel()
	for lang, want := range map[string]string{"de": "de", "de-AT": "de", "zh-Hant": "zh", "pt-BR": "pt", "EN": "en", "nl": "en", "": "en", "no such": "en"} {
		if got := prompts.TextsIn(lang).Language; got != want {
			t.Errorf("%q: %s, want %s", lang, got, want)
		}
	}
}
