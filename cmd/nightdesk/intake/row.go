package intake

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

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

// rowSettings are the columns that set settings.
var rowSettings = []struct{ column, path string }{
	{"preset", "preset"}, {"language", "language"}, {"strategy", "researching.strategy"},
	{"sources", "researching.sources"},
	{"duration", "limits.run_duration"}, {"budget", "limits.run_budget"}, {"citation_style", "reporting.citation_style"},
	{"report_template", "reporting.template"}, {"plan", "planning.plan"},
	{"user_info", "user_info"}, {"length", "reporting.length"}, {"audience", "reporting.audience"},
	{"audio", "reporting.audio"},
}

// resolve returns the index of a row's options, which override those of the batch.
func (r *listReader) resolve(options map[string]string) known {
	key := options["kb"]
	for _, s := range rowSettings {
		key += "\x00" + options[s.column]
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
	if options["kb"] != "" && !slices.Contains(r.bases, kb) {
		return topicqueue.Options{},
			fmt.Errorf("there is no knowledge base %q: make it with `nightdesk kb add --name NAME DIR`", topicqueue.Clip(kb, 60))
	}
	if err := r.checkFiles(options); err != nil {
		return topicqueue.Options{}, err
	}
	asked := map[string]string{}
	for _, s := range rowSettings {
		if v := options[s.column]; v != "" {
			asked[s.path] = v
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
