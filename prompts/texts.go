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

// Texts holds the fixed texts of reports in one language: headings, notes, and replacements for text that no model
// wrote. The files in texts describe each entry.
type Texts struct {
	Language string `yaml:"-"` // BCP 47

	BestMatch  Text `yaml:"best_match"`
	Conclusion Text `yaml:"conclusion"`
	Gaps       Text `yaml:"gaps"`
	References Text `yaml:"references"`
	Background Text `yaml:"background"`
	Disagree   Text `yaml:"disagree"`
	Untitled   Text `yaml:"untitled"`

	Topic       Text `yaml:"topic"`        // Topic
	Run         Text `yaml:"run"`          // Date, Run
	Batch       Text `yaml:"batch"`        // Batch
	Entry       Text `yaml:"entry"`        // ID
	Completed   Text `yaml:"completed"`    // the state
	Partial     Text `yaml:"partial"`      // Reason
	GivesOrders Text `yaml:"gives_orders"` // Title, Text
	// for the page with marked sentences
	ShowChecks       Text `yaml:"show_checks"`
	ShowNews         Text `yaml:"show_news"`
	CheckConfirmed   Text `yaml:"check_confirmed"`
	CheckConclusion  Text `yaml:"check_conclusion"`
	CheckUnconfirmed Text `yaml:"check_unconfirmed"`
	CheckUnsupported Text `yaml:"check_unsupported"`

	Confirmed Text `yaml:"confirmed"` // Sentences, Unverified, Unsupported, FactsUncited

	Quoted      Text `yaml:"quoted"`
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
	NotReviewed   Text `yaml:"not_reviewed"`
	OtherLanguage Text `yaml:"other_language"` // Language; in English only, as a fallback for missing languages

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

	Genres map[string]string `yaml:"genres"` // names of source genres; a missing genre is shown as stored
	Space  string            `yaml:"space"`  // separator between two sentences
}

// V holds the values for a text.
type V map[string]any

// Text is an entry of Texts.
type Text struct{ t *template.Template }

// String returns a text without values.
func (t Text) String() string { return t.With(nil) }

// With returns a text filled with values. The comment on each field of Texts names its values. A wrong name is a bug
// that tests would find; With panics.
func (t Text) With(values V) string {
	var b strings.Builder
	if err := t.t.Execute(&b, values); err != nil {
		panic(fmt.Sprintf("say %q: %v", t.t.Root, err))
	}
	return b.String()
}

// UnmarshalYAML parses the text as a template.
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

// texts maps primary language tags to texts. Each language is read on first use.
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
		panic(fmt.Sprintf("read the texts of reports: %v", err)) // a bug in a file, which tests would find
	}
	return t
}

// TextsIn returns the texts for a BCP 47 tag, or the English ones if its language has none.
func TextsIn(lang string) *Texts {
	if t := texts[primary(lang)]; t != nil {
		return t()
	}
	return texts["en"]()
}

// Speaks reports whether the texts are in the language of a BCP 47 tag.
func (t *Texts) Speaks(lang string) bool { return t.Language == primary(lang) }

// primary returns the base language of a BCP 47 tag, or English for an invalid tag.
func primary(lang string) string {
	tag, err := language.Parse(lang)
	if err != nil {
		return "en"
	}
	base, _ := tag.Base()
	return base.String()
}
