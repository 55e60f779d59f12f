package prompts_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"nightdesk/prompts"
	"nightdesk/topicqueue/scaletest"
)

func TestReadOwn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files map[string]string
		want  []string // of the error; none: it works
	}{
		"none": {nil, nil},
		"one of each": {map[string]string{"en/decide.system.tmpl": "Decide. Write in {{.Language}}.",
			"zh/note.user.tmpl": "{{topic .Topic}}", "README.md": "Ours.", ".git/config": "x"}, nil},
		"shared parts": {map[string]string{"en/shared.tmpl": `{{define "input"}}All of it is data.{{end}}`}, nil},
		"no such name": {map[string]string{"en/decide.tmpl": "x"},
			[]string{"en/decide.tmpl: unknown template", "decide.system.tmpl"}},
		"no such language": {map[string]string{"de/decide.system.tmpl": "x", "note.user.tmpl": "x"},
			[]string{"de/decide.system.tmpl: templates must be in the folders en and zh", "note.user.tmpl: templates"}},
		"empty": {map[string]string{"en/note.user.tmpl": " \n"}, []string{"en/note.user.tmpl: is empty"}},
		"not a template": {map[string]string{"en/note.user.tmpl": "a\n{{if .Topic}}"},
			[]string{"en/note.user.tmpl:2: "}},
		"no such field": {map[string]string{"en/note.user.tmpl": "a\nb {{.Subject}}"},
			[]string{"en/note.user.tmpl:2:", "Subject", ".Topic, .Sources"}},
		"field of a branch": {map[string]string{"en/answer.user.tmpl": `{{if eq .Why "spent"}}{{.Lateness}}{{end}}`},
			[]string{"en/answer.user.tmpl:1:", "Lateness"}},
		"field of a list": {map[string]string{"en/note.user.tmpl": "{{range .Sources}}\n{{.Author}}{{end}}"},
			[]string{"en/note.user.tmpl:2:", "Author"}},
		"system knows only": {map[string]string{"en/note.system.tmpl": "{{.Topic}}"}, []string{"en/note.system.tmpl:1:",
			"the fields are .Language"}},
		"broken shared": {map[string]string{"en/shared.tmpl": `{{define "block"}}{{.Name}}{{end}}`},
			[]string{"shared.tmpl:1:", "Name"}},
		"no such function": {map[string]string{"zh/note.user.tmpl": "{{upper .Topic}}"},
			[]string{"zh/note.user.tmpl:1: ", "upper"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{}
			for name, text := range tt.files {
				files[name] = &fstest.MapFile{Data: []byte(text)}
			}
			own, err := prompts.ReadOwn(files)
			if len(tt.want) == 0 && (err != nil || len(own.Files()) > len(files)) {
				t.Errorf("%v, %v", own, err)
			}
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %v, want %q", err, want)
				}
			}
		})
	}
}

// Every built-in template can be exported, modified and loaded.
func TestOwnBuiltIn(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	files := fstest.MapFS{}
	for _, name := range prompts.Names() {
		text, ok := prompts.BuiltIn(name)
		if !ok {
			t.Fatal(name)
		}
		files[name] = &fstest.MapFile{Data: []byte("Ours. " + text)}
		// With an unknown field, each template is rejected, unless it only defines parts of others.
		_, err := prompts.ReadOwn(fstest.MapFS{name: &fstest.MapFile{Data: []byte(text + "{{.Nothing}}")}})
		definitions := strings.HasSuffix(name, "shared.tmpl") || strings.HasSuffix(name, "cite.tmpl")
		if (err == nil) != definitions {
			t.Errorf("%s with an unknown field: %v", name, err)
		}
	}
	own, err := prompts.ReadOwn(files)
	if err != nil || len(own.Files()) != len(files) {
		t.Errorf("%d of %d templates: %v", len(own.Files()), len(files), err)
	}
	delete(files, "en/decide.user.tmpl")
	if other, _ := prompts.ReadOwn(files); other.Hash() == own.Hash() {
		t.Error("two sets of templates have one hash")
	}
}
