package intake

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/pipeline/planning"
	"nightdesk/pipeline/reporting/template"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// Flags control how topics are researched, in addition to the flags that set settings.
type Flags struct {
	Deadline    string
	BatchBudget topicqueue.Budget // shared by the runs
	Incremental bool
	Follows     bool     // the topic is a question about a report, whose evidence can be searched
	Attach      []string // files of documents that belong only to these runs
}

// Options returns the options for researching topics with a knowledge base.
func (f Flags) Options(cfg config.Config, kb string) (topicqueue.Options, error) {
	options, err := cfg.RunOptions(kb)
	if err != nil {
		return options, view.Usage(err)
	}
	if options.Deadline, err = DeadlineAt(f.Deadline, time.Now()); err != nil {
		return options, err
	}
	options.BatchBudget = f.BatchBudget
	if err := checkBudgets(cfg, options); err != nil {
		return options, err
	}
	options.Incremental = f.Incremental
	if err := checkAttached(cfg, options); err != nil {
		return options, err
	}
	if err := usePlan(&options, cfg.Planning.Plan); err != nil {
		return options, err
	}
	if options.Template, err = ReadTemplate(cfg.Reporting.Template, options.Language); err != nil {
		return options, err
	}
	if len(options.Tools) == 0 && !f.Follows {
		hint := "Give a knowledge base: --kb DIR indexes a folder on the way, --kb NAME uses one that `nightdesk kb add` " +
			"made.\nOr a search engine of the web: SEARXNG_URL, or a key such as TAVILY_API_KEY or BRAVE_API_KEY."
		if kb != "" || len(cfg.WebSearch.Engines()) > 0 {
			hint = "All tools are switched off: set one of researching.enable_rag_hybrid, enable_rag_naive, " +
				"enable_query_item, enable_web_search to true."
		}
		return options, view.Usage(view.Hint(errors.New("there is nothing to search in"), hint))
	}
	return options, nil
}

// checkAttached rejects attached documents that cannot be searched, or that the next incremental run would lack.
func checkAttached(cfg config.Config, o topicqueue.Options) error {
	searched := slices.Contains(o.Tools, tools.NameRAGHybrid) || slices.Contains(o.Tools, tools.NameRAGNaive)
	switch {
	case !cfg.Attached:
		return nil
	case o.Incremental:
		return view.Usage(view.Hint(errors.New("--attach documents belong only to these runs, but --incremental "+
			"compares with the next run"), "Make a knowledge base of the documents: --kb DIR."))
	case !searched:
		return view.Usage(view.Hint(errors.New("the attached documents cannot be searched, because no search "+
			"tool is enabled"),
			"Add kb to --sources, and switch on researching.enable_rag_hybrid or enable_rag_naive."))
	}
	return nil
}

// checkBudgets rejects budgets that cannot be enforced: in different units, or in money for models without a price.
func checkBudgets(cfg config.Config, o topicqueue.Options) error {
	limit := o.Limit()
	for _, b := range []topicqueue.Budget{o.BatchBudget, o.NightBudget} {
		if !limit.SameUnit(b) {
			return view.Usage(view.Hint(fmt.Errorf("a budget of %s beside one of %s: what a run spends is counted in one unit",
				limit, b),
				"Give all budgets (--budget, --batch-budget, limits.run_budget, limits.night_budget) in US dollars, or "+
					"all in tokens."))
		}
	}
	if !limit.Money() || !cfg.LLM.Enabled() {
		return nil
	}
	unknown, err := wiring.Unpriced(cfg.LLM)
	if err != nil {
		return view.Usage(err)
	}
	if len(unknown) > 0 {
		return view.Usage(view.Hint(noPriceError(fmt.Sprintf("a budget of %s, and no price is known for %s", limit,
			strings.Join(unknown, ", "))), wiring.PriceHint(unknown[0])))
	}
	return nil
}

// noPriceError means that a budget is in money and a model has no known price.
type noPriceError string

func (e noPriceError) Error() string { return string(e) }

// usePlan reads and checks the plan of a run and copies its items to the options. An empty name means no plan.
func usePlan(o *topicqueue.Options, name string) error {
	if name == "" {
		return nil
	}
	if o.Path == topicqueue.PathShallow {
		return view.Usage(view.Hint(errors.New("a shallow run answers in one conversation and follows no plan"),
			"Use another preset, or leave the plan out."))
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return view.Usage(fmt.Errorf("read the plan: %w", err))
	}
	items, err := planning.ParseGiven(string(text))
	if err != nil {
		return view.Usage(view.Hint(fmt.Errorf("plan %s:\n%w", name, err), "`nightdesk help dialogue` has an example."))
	}
	o.Path = topicqueue.PathDeep
	o.Plan, o.DecomposeMode, o.SubTopics, o.Rephrase = items, topicqueue.DecomposeManual, len(items), false
	o.QueueMaxLength = max(o.QueueMaxLength, config.QueueLengthFor(len(items)))
	return nil
}

// ReadTemplate reads and checks a report template: a built-in one in a language, or a file. It returns the text,
// because workers may run on other machines. An empty name means no template.
func ReadTemplate(name, language string) (string, error) {
	if name == "" {
		return "", nil
	}
	if slices.Contains(template.Names(), name) {
		text, err := template.Text(name, language)
		if err != nil {
			return "", view.Usage(view.Hint(err, fmt.Sprintf("Translate it: `nightdesk styles %s > mine.md` writes it into "+
				"a file, --report-template mine.md uses it.", name)))
		}
		return text, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", view.Usage(view.Hint(fmt.Errorf("read the template of reports: %w", err),
			"Give a file, or one of "+strings.Join(template.Names(), ", ")+"."))
	}
	if _, err := template.Parse(string(text)); err != nil {
		return "", view.Usage(view.Hint(fmt.Errorf("template %s:\n%w", name, err),
			"`nightdesk help templates` has an example."))
	}
	return string(text), nil
}

// DeadlineAt parses the time when a report is due: a time of day, which means its next occurrence in local time, a date
// and time in local time, or RFC 3339. It returns the zero time for "".
func DeadlineAt(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return checkDeadline(text, at, now)
	}
	if at, err := time.ParseInLocation("2006-01-02 15:04", text, now.Location()); err == nil {
		return checkDeadline(text, at, now)
	}
	at, err := time.Parse("15:04", text)
	if err != nil {
		return time.Time{},
			view.Usage(fmt.Errorf("deadline %q: give a time of day (07:00), a date and time (2026-03-01 07:00) or RFC 3339 "+
				"(2026-03-01T07:00:00Z)", text))
	}
	due := time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), 0, 0, now.Location())
	if !due.After(now) {
		due = time.Date(now.Year(), now.Month(), now.Day()+1, at.Hour(), at.Minute(), 0, 0, now.Location())
	}
	return due, nil
}

func checkDeadline(text string, at, now time.Time) (time.Time, error) {
	if !at.After(now) {
		return time.Time{}, view.Usage(fmt.Errorf("deadline %q is over already", text))
	}
	return at, nil
}
