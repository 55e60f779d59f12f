package prompts

import (
	"embed"
	"fmt"
	"strings"
	"sync"
	"text/template"
	"unicode"
)

//go:embed templates
var templateFiles embed.FS

// builtIn are the sets of the languages: a process that asks no model parses none of them.
var builtIn = map[string]func() templates{
	"en": sync.OnceValue(func() templates { return parse("en") }),
	"zh": sync.OnceValue(func() templates { return parse("zh") }),
}

// templates are the parsed templates of one language, named by their files: decide.system.tmpl, decide.user.tmpl, ...
type templates struct {
	set     *template.Template
	builtIn *template.Template // nil: set is the built-in one
}

// systemData is all that a system template may depend on: it must be equal for all calls of one name and language.
type systemData struct {
	Language string // what prose is written in, named in the language of the template
}

func parse(dir string) templates {
	set := template.New(dir).Option("missingkey=error")
	set.Funcs(template.FuncMap{
		"quote": Quote,
		"topic": quoteTopic,
		"user":  func(text string) string { return enclose("user", text) },
		"line":  line,

		// include renders a named template to a string, so that it can be piped into quote.
		"include": func(name string, data any) (string, error) {
			var b strings.Builder
			err := set.ExecuteTemplate(&b, name, data)
			return b.String(), err
		},
	})
	return templates{set: template.Must(set.ParseFS(templateFiles, "templates/"+dir+"/*.tmpl"))}
}

// render executes one template. The data are this package's structs, so an error of a built-in template is a bug, which
// the tests would have shown: it panics. One of somebody's own that fails on data unlike its samples gives way to the
// built-in one.
func (t templates) render(name string, data any) string {
	text, err := t.execute(name, data)
	if err != nil && t.builtIn != nil {
		text, err = templates{set: t.builtIn}.execute(name, data)
	}
	if err != nil {
		panic(fmt.Sprintf("render prompt template %s: %v", name, err))
	}
	return text
}

func (t templates) execute(name string, data any) (string, error) {
	var b strings.Builder
	err := t.set.ExecuteTemplate(&b, name, data)
	return strings.TrimSpace(b.String()), err
}

// line makes one line of a text: a list entry that a page or a model wrote cannot pass for two.
func line(s string) string {
	return strings.Join(strings.FieldsFunc(clean(s), unicode.IsSpace), " ")
}
