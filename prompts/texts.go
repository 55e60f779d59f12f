package prompts

import (
	"embed"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"text/template"

	"github.com/goccy/go-yaml"
	"golang.org/x/text/language"
)

// Texts are what reports say in words of their own, in one language: headings, notes, and what stands where no model
// wrote. The files in texts say of each what it is.
type Texts struct {
	Language string `yaml:"-"` // BCP 47

	BestMatch  Text `yaml:"best_match"`
	Conclusion Text `yaml:"conclusion"`
	Gaps       Text `yaml:"gaps"`
	References Text `yaml:"references"`
	Background Text `yaml:"background"`
	Disagree   Text `yaml:"disagree"`
	Untitled   Text `yaml:"untitled"`

	Topic     Text `yaml:"topic"`     // Topic
	Run       Text `yaml:"run"`       // Date, Run
	Batch     Text `yaml:"batch"`     // Batch
	Entry     Text `yaml:"entry"`     // ID
	Completed Text `yaml:"completed"` // the state
	Partial   Text `yaml:"partial"`   // Reason
	// of the page on which sentences are marked
	ShowChecks       Text `yaml:"show_checks"`
	ShowNews         Text `yaml:"show_news"`
	CheckConfirmed   Text `yaml:"check_confirmed"`
	CheckConclusion  Text `yaml:"check_conclusion"`
	CheckUnconfirmed Text `yaml:"check_unconfirmed"`
	CheckUnsupported Text `yaml:"check_unsupported"`

	Confirmed Text `yaml:"confirmed"` // Confirmed, Sentences, Repaired, Unverified, Conclusions, Unsupported, FactsUncited

	Quoted      Text `yaml:"quoted"`
	Missing     Text `yaml:"missing"` // Terms
	Opening     Text `yaml:"opening"` // Topic, Claims, Documents
	Closing     Text `yaml:"closing"` // Sections, Citations, Gaps
	NothingFor  Text `yaml:"nothing_for"`
	AllGone     Text `yaml:"all_gone"`
	Figure      Text `yaml:"figure"` // N, Title
	Unsupported Text `yaml:"unsupported"`

	GapsLead   Text `yaml:"gaps_lead"`
	Failed     Text `yaml:"failed"`
	Nothing    Text `yaml:"nothing"`
	NotDone    Text `yaml:"not_done"`
	Unfinished Text `yaml:"unfinished"`
	Because    Text `yaml:"because"` // What, Reason

	MadeQuoted    Text `yaml:"made_quoted"`  // Quotes, Documents, LeftOut
	MadeWritten   Text `yaml:"made_written"` // Claims, Citations, Documents, Local
	MadeLocally   Text `yaml:"made_locally"` // Claims, Citations, Documents
	NotReviewed   Text `yaml:"not_reviewed"`
	OtherLanguage Text `yaml:"other_language"` // Language; of English alone, which stands in for what there is not

	NotChecked   Text `yaml:"not_checked"` // Reason
	NothingCited Text `yaml:"nothing_cited"`
	// Sentences, Supported, Judged, Repaired, Removed, Refused, Unsupported, Unverified, Conclusions, FactsUncited,
	// SourcesUnread
	Checked        Text `yaml:"checked"`
	MarkersRemoved Text `yaml:"markers_removed"` // N

	Changes   Text `yaml:"changes"`    // Date
	AsOf      Text `yaml:"as_of"`      // Date
	NoChanges Text `yaml:"no_changes"` // Date
	New       Text `yaml:"new"`
	Changed   Text `yaml:"changed"`
	Withdrawn Text `yaml:"withdrawn"`
	Open      Text `yaml:"open"`
	Before    Text `yaml:"before"`
	Gone      Text `yaml:"gone"`
	Unsaid    Text `yaml:"unsaid"`
	Outdated  Text `yaml:"outdated"`
	NotAsked  Text `yaml:"not_asked"` // N

	Writing Text `yaml:"writing"`
	Written Text `yaml:"written"` // Sections, Words, Citations

	Misquoted Text `yaml:"misquoted"` // Text
	NoFigure  Text `yaml:"no_figure"` // Text, Instead
	NotSaid   Text `yaml:"not_said"`

	Genres map[string]string `yaml:"genres"` // of sources; one that is missing is shown as it is stored
	Space  string            `yaml:"space"`  // between two sentences
}

// V are the values of a text.
type V map[string]any

// Text is one of Texts.
type Text struct{ t *template.Template }

// String returns a text without values.
func (t Text) String() string { return t.With(nil) }

// With returns a text with its values. Which it has is said beside it: another one is a bug that the tests would have
// shown, and panics.
func (t Text) With(values V) string {
	var b strings.Builder
	if err := t.t.Execute(&b, values); err != nil {
		panic(fmt.Sprintf("say %q: %v", t.t.Root, err))
	}
	return b.String()
}

// UnmarshalYAML reads a text.
func (t *Text) UnmarshalYAML(unmarshal func(any) error) (err error) {
	var s string
	if err = unmarshal(&s); err == nil {
		t.t, err = template.New("").Option("missingkey=error").Funcs(textFuncs).Parse(s)
	}
	return err
}

var textFuncs = template.FuncMap{
	"count": func(n int, one, many string) string {
		if n == 1 {
			many = one
		}
		return fmt.Sprintf("%d %s", n, many)
	},
	"list": func(format, between, last string, words []string) string {
		var b strings.Builder
		for i, w := range words {
			switch {
			case i == 0:
			case i == len(words)-1:
				b.WriteString(last)
			default:
				b.WriteString(between)
			}
			fmt.Fprintf(&b, format, w)
		}
		return b.String()
	},
}

//go:embed texts/*.yaml
var textFiles embed.FS

// texts are those of all languages, by their primary tag: each is read when it is wanted.
var texts = textsByLanguage()

func textsByLanguage() map[string]func() *Texts {
	files, _ := textFiles.ReadDir("texts") // embedded files can always be read
	all := map[string]func() *Texts{}
	for _, f := range files {
		tag := strings.TrimSuffix(f.Name(), path.Ext(f.Name()))
		all[tag] = sync.OnceValue(func() *Texts { return readTexts(tag) })
	}
	return all
}

func readTexts(tag string) *Texts {
	t := &Texts{Language: tag}
	body, err := textFiles.ReadFile("texts/" + tag + ".yaml")
	if err = errors.Join(err, yaml.UnmarshalWithOptions(body, t, yaml.Strict())); err != nil {
		panic(fmt.Sprintf("read the texts of reports: %v", err)) // a bug in a file, which the tests would have shown
	}
	return t
}

// TextsIn returns the texts for a BCP 47 tag, in English where there are none in its language.
func TextsIn(lang string) *Texts {
	if t := texts[primary(lang)]; t != nil {
		return t()
	}
	return texts["en"]()
}

// Speaks reports whether the texts are in the language of a BCP 47 tag.
func (t *Texts) Speaks(lang string) bool { return t.Language == primary(lang) }

// primary returns the language of a BCP 47 tag without its region and script; English for what is none.
func primary(lang string) string {
	tag, err := language.Parse(lang)
	if err != nil {
		return "en"
	}
	base, _ := tag.Base()
	return base.String()
}
