package prompts

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
)

// Own holds custom templates that replace built-in ones.
type Own struct {
	files []string // en/decide.system.tmpl
	hash  string
	sets  map[string]templates // by language
}

// ReadOwn reads custom templates from files. A file such as en/decide.system.tmpl replaces the built-in template of
// that name. Each language has its own templates; missing ones keep the built-in text. ReadOwn executes each template
// with sample data of its step, so that runs do not fail on it later. The error lists all problems with file and
// line. Unknown files are also problems, except hidden files and README.md.
func ReadOwn(files fs.FS) (*Own, error) {
	own := &Own{sets: map[string]templates{}}
	sum := sha256.New()
	var problems []error
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case strings.HasPrefix(base, ".") && name != ".":
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir(), base == "README.md":
			return nil
		}
		lang, file := path.Split(name)
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if err := own.take(strings.TrimSuffix(lang, "/"), file, string(text)); err != nil {
			problems = append(problems, err)
			return nil
		}
		own.files = append(own.files, name)
		fmt.Fprintf(sum, "%s\x00%d\x00%s", name, len(text), text)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, lang := range languages {
		if set, ok := own.sets[lang]; ok {
			problems = append(problems, set.check(lang)...)
		}
	}
	own.hash = hex.EncodeToString(sum.Sum(nil)[:8])
	return own, errors.Join(problems...)
}

// languages lists the template folders.
var languages = []string{"en", "zh"}

// take parses one template into a copy of the built-in templates of its language.
func (o *Own) take(lang, file, text string) error {
	if !slices.Contains(languages, lang) {
		return fmt.Errorf("%s: templates must be in the folders %s", path.Join(lang, file), strings.Join(languages, " and "))
	}
	if _, err := templateFiles.Open("templates/" + lang + "/" + file); err != nil {
		return fmt.Errorf("%s/%s: unknown template; known templates: %s", lang, file,
			strings.Join(names(lang), ", "))
	}
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("%s/%s: is empty; remove the file to use the built-in template", lang, file)
	}
	set, ok := o.sets[lang]
	if !ok {
		set = parse(lang)
		o.sets[lang] = set
	}
	if _, err := set.set.New(file).Parse(text); err != nil {
		return inFile(lang, err)
	}
	return nil
}

// names returns the names of the built-in templates of a language.
func names(lang string) []string {
	entries, _ := templateFiles.ReadDir("templates/" + lang) // embedded files can always be read
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Name()
	}
	return out
}

// inFile adds the folder to an error of package text/template, which starts with "template: decide.user.tmpl:5:3:
// ...".
func inFile(lang string, err error) error {
	return fmt.Errorf("%s/%s", lang, strings.TrimPrefix(err.Error(), "template: "))
}

// check executes every template with its sample data and returns the errors.
func (t templates) check(lang string) []error {
	var problems []error
	for _, name := range names(lang) {
		for _, data := range samples(name) {
			if _, err := t.execute(name, data); err != nil {
				problems = append(problems, fmt.Errorf("%w; the fields are %s", inFile(lang, err), fieldsOf(data)))
				break
			}
		}
	}
	return problems
}

// fieldsOf returns the names of a struct's fields as a comma-separated list.
func fieldsOf(data any) string {
	t := reflect.TypeOf(data)
	out := make([]string, t.NumField())
	for i := range out {
		out[i] = "." + t.Field(i).Name
	}
	return strings.Join(out, ", ")
}

// Files returns the names of the custom templates, sorted.
func (o *Own) Files() []string { return slices.Clone(o.files) }

// Hash returns a hash that identifies the set of templates.
func (o *Own) Hash() string { return o.hash }

// current holds the templates in use, by language; nil: the built-in ones.
var current atomic.Pointer[map[string]func() templates]

func inUse() map[string]func() templates {
	if sets := current.Load(); sets != nil {
		return *sets
	}
	return builtIn
}

// BuiltIn returns the text of a built-in template by its name as in ReadOwn, and false for an unknown name.
func BuiltIn(name string) (string, bool) {
	text, err := templateFiles.ReadFile("templates/" + name)
	return string(text), err == nil
}

// Names returns the names of all templates.
func Names() []string {
	var out []string
	for _, lang := range languages {
		for _, file := range names(lang) {
			out = append(out, lang+"/"+file)
		}
	}
	return out
}

// Use makes this process render all prompts with custom templates. Call it before the first prompt.
func Use(own *Own) {
	sets := maps.Clone(builtIn)
	for lang, set := range own.sets {
		set.builtIn = builtIn[lang]().set
		sets[lang] = func() templates { return set }
	}
	current.Store(&sets)
}

// samples returns the data for testing a template file: empty, fully filled, and with each value that a template may
// distinguish. It returns nil for files that only define templates for inclusion.
func samples(file string) []any {
	if name, ok := strings.CutSuffix(file, ".system.tmpl"); ok && name != "" {
		return []any{systemData{"English", Forms}}
	}
	data, ok := map[string]any{
		"about.tmpl": AboutData{}, "said.tmpl": saidData{}, "answer.user.tmpl": AnswerData{},
		"clarify.user.tmpl": ClarifyData{}, "decide.user.tmpl": DecideData{}, "decompose.user.tmpl": DecomposeData{},
		"author.user.tmpl": AuthorData{}, "judge.user.tmpl": JudgeData{},
		"look_up.user.tmpl": LookUpData{}, "narrate.user.tmpl": NarrateData{}, "note.user.tmpl": NoteData{},
		"outline.user.tmpl": OutlineData{}, "renew.user.tmpl": RenewData{}, "repair.user.tmpl": RepairData{},
		"rephrase.user.tmpl": RephraseData{}, "review.user.tmpl": ReviewData{}, "route.user.tmpl": RouteData{},
		"satisfied.user.tmpl": SatisfiedData{},
	}[file]
	if !ok {
		return nil
	}
	out := []any{data}
	for _, word := range []string{"sample", NowSpent, NowUncited} {
		full := reflect.New(reflect.TypeOf(data)).Elem()
		fill(full, word)
		out = append(out, full.Interface())
	}
	return out
}

// fill sets every field of a value to a non-zero value. word: the value of all strings.
func fill(v reflect.Value, word string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(word)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(2)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), word)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), word)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), word)
		}
	}
}
