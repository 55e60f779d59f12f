package prompts

import (
	"embed"
	"fmt"
	"strings"
	"sync"
	"text/template"

	"nightdesk/topicqueue"
)

//go:embed templates
var templateFiles embed.FS

// builtIn holds the template sets by language. They are parsed on first use.
var builtIn = map[string]func() templates{
	"en": sync.OnceValue(func() templates { return parse("en") }),
	"zh": sync.OnceValue(func() templates { return parse("zh") }),
}

// templates are the parsed templates of one language, named by their files: decide.system.tmpl, decide.user.tmpl, ...
type templates struct {
	set     *template.Template
	builtIn *template.Template // nil: set is the built-in one
}

// systemData is the only data of system templates, which must be identical for all calls of one name and language.
type systemData struct {
	Language string   // language of prose, named in the language of the template
	Forms    []string // forms of a report
}

func parse(dir string) templates {
	set := template.New(dir).Option("missingkey=error")
	set.Funcs(template.FuncMap{
		"quote": Quote,
		"topic": quoteTopic,
		"user":  func(text string) string { return enclose("user", text) },
		"line":  topicqueue.OneLine,

		// include renders a named template to a string that can be piped into quote.
		"include": func(name string, data any) (string, error) {
			var b strings.Builder
			err := set.ExecuteTemplate(&b, name, data)
			return b.String(), err
		},
	})
	return templates{set: template.Must(set.ParseFS(templateFiles, "templates/"+dir+"/*.tmpl"))}
}

// render executes one template. The data are this package's structs, so an error in a built-in template is a bug that
// tests would find; render panics. If a custom template fails on unusual data, render uses the built-in one.
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
