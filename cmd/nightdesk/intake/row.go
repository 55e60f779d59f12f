package intake

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/jobs/tasks"
	"nightdesk/pipeline/reporting/template"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/topiclist"
)

// check checks a row, resolves its options and adds its topic to the list. problem describes what is wrong with it.
func (r *listReader) check(row topiclist.Row) (problem string) {
	t := Topic{Line: row.Line, Topic: strings.TrimSpace(row.Topic), Lane: r.lane, Ref: row.Options["id"]}
	if row.Topic == "" && len(row.Options) > 0 {
		return "it has no topic"
	}
	if err := tasks.CheckTopic(t.Topic); err != nil {
		return err.Error()
	}
	if topicqueue.OneLine(t.Ref) != t.Ref || len(t.Ref) > mostRef {
		return fmt.Sprintf("the id must be one line of at most %d bytes", mostRef)
	}
	var err error
	if p := row.Options["priority"]; p != "" {
		if t.Lane, err = laneOf(strings.ToLower(p)); err != nil {
			return err.Error()
		}
	}
	own, err := checkTags(strings.FieldsFunc(row.Options["tags"], func(r rune) bool {
		return strings.ContainsRune(",;|", r)
	}))
	if err != nil {
		return err.Error()
	}
	t.Tags = slices.Clone(r.Tags)
	for _, tag := range own {
		if !slices.Contains(t.Tags, tag) {
			t.Tags = append(t.Tags, tag)
		}
	}
	if d := row.Options["deadline"]; d != "" {
		if t.Deadline, err = DeadlineAt(d, r.Now); err != nil {
			return err.Error()
		}
	}
	k := r.resolve(row.Options)
	if k.problem != "" {
		return k.problem
	}
	t.Options = k.options
	if t.Deadline.IsZero() {
		t.Deadline = r.list.Options[k.options].Deadline
	}
	return r.enter(t)
}

// Setting is a setting that a topic can have of its own: as a column of a list, and as a flag for all topics.
type Setting struct{ Column, Path, Usage string }

// Flag returns the name of the flag.
func (s Setting) Flag() string { return strings.ReplaceAll(s.Column, "_", "-") }

// Settings are the settings of topics. The knowledge base is apart, because a flag can name a directory.
var Settings = []Setting{
	{"preset", "preset", "limits of the research: " + view.Either(config.PresetNames()...)},
	{"language", "language", "language of the report: en, zh or another language tag"},
	{"strategy", "researching.strategy", "exploratory (broad), balanced or focused (deep)"},
	{"sources", "researching.sources",
		"allowed kinds of sources, comma-separated: kb, web, papers, code, own (default: all that are configured)"},
	{"duration", "limits.run_duration", "maximum duration, counted from the start of planning, such as 20m"},
	{"budget", "limits.run_budget",
		"budget of a run for models: US dollars such as 2.50, or tokens such as \"2M tokens\""},
	{"citation_style", "reporting.citation_style", "anchors or numbered"},
	{"report_template", "reporting.template",
		"sections of the report with instructions: a Markdown `file`, or a name from \"nightdesk styles\""},
	{"plan", "planning.plan", "file with the sub-topics as a Markdown list, one item each"},
	{"user_info", "user_info", "who asks and why, as text for all prompts"},
	{"length", "reporting.length", "length of the report, in your own words: \"one page\""},
	{"audience", "reporting.audience",
		"readers of the report, in your own words: \"engineers who know databases\""},
	{"audio", "reporting.audio", "audio version: extended_audio (whole report), single_podcast_overview (main points), " +
		"dual_podcast_overview (main points, two voices) or none"},
}

// resolve returns the index of a row's options, which override those of the batch.
func (r *listReader) resolve(options map[string]string) known {
	key := options["kb"]
	for _, s := range Settings {
		key += "\x00" + options[s.Column]
	}
	k, ok := r.known[key]
	if ok {
		return k
	}
	o, err := r.optionsOf(options)
	if err != nil && (strings.Trim(key, "\x00") == "" || options["budget"] == "" && errors.As(err, new(noPriceError))) {
		r.err = err // not caused by the row
	}
	if err != nil {
		k.problem = strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "settings: ")), " ")
	} else {
		k.options = len(r.list.Options)
		r.list.Options = append(r.list.Options, o)
	}
	r.known[key] = k
	return k
}

func (r *listReader) optionsOf(options map[string]string) (topicqueue.Options, error) {
	kb := cmp.Or(options["kb"], r.KB)
	if options["kb"] != "" && !slices.Contains(r.Bases, kb) {
		return topicqueue.Options{},
			fmt.Errorf("there is no knowledge base %q: make it with `nightdesk kb add --name NAME DIR`", topicqueue.Clip(kb, 60))
	}
	if err := r.checkFiles(options); err != nil {
		return topicqueue.Options{}, err
	}
	asked := map[string]string{}
	for _, s := range Settings {
		if v := options[s.Column]; v != "" {
			asked[s.Path] = v
		}
	}
	cfg, err := r.cfg.With(asked)
	if err != nil {
		var problems config.Problems
		if errors.As(err, &problems) {
			var texts []string
			for _, p := range problems {
				texts = append(texts, p.String())
			}
			err = errors.New(strings.Join(texts, "; "))
		}
		return topicqueue.Options{}, err
	}
	return r.Flags.Options(cfg, kb)
}

// checkFiles rejects file names in a list from elsewhere, because the files would be read on this machine.
func (r *listReader) checkFiles(options map[string]string) error {
	if !r.Foreign {
		return nil
	}
	if options["plan"] != "" {
		return errors.New("the column plan names a file, but this list comes from elsewhere: remove the column")
	}
	if name := options["report_template"]; name != "" && !slices.Contains(template.Names(), name) {
		return fmt.Errorf("report_template %q: this list comes from elsewhere and cannot name a file; there are %s",
			topicqueue.Clip(name, 60), strings.Join(template.Names(), ", "))
	}
	return nil
}

// Limits of labels, which Redis stores with each run.
const (
	mostRef     = 200 // bytes
	mostTag     = 64  // bytes
	mostTags    = 20
	tagsAllowed = "tags are at most 20, each one line of at most 64 bytes without commas"
)

// checkTags trims and validates tags. It drops empty tags and duplicates.
func checkTags(tags []string) ([]string, error) {
	var out []string
	for _, tag := range tags {
		tag = strings.TrimSpace(tag)
		if tag == "" || slices.Contains(out, tag) {
			continue
		}
		if topicqueue.OneLine(tag) != tag || len(tag) > mostTag || strings.Contains(tag, ",") {
			return nil, fmt.Errorf("tag %q: %s", topicqueue.Clip(tag, 60), tagsAllowed)
		}
		out = append(out, tag)
	}
	if len(out) > mostTags {
		return nil, fmt.Errorf("%d tags: %s", len(out), tagsAllowed)
	}
	return out, nil
}
