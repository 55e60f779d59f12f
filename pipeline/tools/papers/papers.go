// Package papers searches indexes of scientific literature and merges their answers into one list.
//
// Each provider has its own file with its requests, the parsing of its answers and its rate limit. Search.Ask queries
// all providers in parallel; a slow, broken or exhausted provider loses only its own answer. Merge, a pure function,
// recognises the same work in several answers and ranks the works. The package does not read papers, only the index
// entries.
//
// Start with New, Search.Ask and Merge.
package papers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"nightdesk/pipeline/tools/fetch"
)

// Names of the providers, as in Settings.Providers.
const (
	ArXiv           = "arxiv"
	Crossref        = "crossref"
	EuropePMC       = "europepmc"
	OpenAlex        = "openalex"
	SemanticScholar = "semanticscholar"
)

// indexes are the providers, by name.
var indexes = []struct {
	name, label string
	service     func(s Settings) service
}{
	{ArXiv, "arXiv", arXiv}, {Crossref, "Crossref", crossref}, {EuropePMC, "Europe PMC", europePMC},
	{OpenAlex, "OpenAlex", openAlex}, {SemanticScholar, "Semantic Scholar", semanticScholar},
}

// Names returns the names of all providers.
func Names() (names []string) {
	for _, i := range indexes {
		names = append(names, i.name)
	}
	return names
}

// Label returns the common name of a provider.
func Label(name string) string {
	for _, i := range indexes {
		if i.name == name {
			return i.label
		}
	}
	return name
}

// Kinds of papers; empty if the provider gives no kind.
const (
	KindArticle    = "article" // in a journal
	KindPreprint   = "preprint"
	KindConference = "conference paper"
	KindReview     = "review"
	KindBook       = "book"
	KindChapter    = "book chapter"
	KindThesis     = "thesis"
	KindReport     = "report"
	KindDataset    = "dataset"
)

// Paper is the index data of one work. All texts are one line of plain text, except Abstract, which may have
// paragraphs.
type Paper struct {
	Title     string // without a retraction mark
	Authors   []string
	Abstract  string // verbatim except for markup and white space; empty: the index has none
	DOI       string // of the published version if there is one; lower case, without a resolver's address
	OtherDOIs []string
	ArXiv     string // without a version, such as 2101.00001 or math/0309136
	PMID      string
	PMCID     string // PMC5815332
	Venue     string // journal, conference, repository
	Date      string // YYYY, YYYY-MM or YYYY-MM-DD
	URL       string // landing page: see Paper.landing
	PDF       string // open access; empty if unknown
	CitedBy   int    // 0 also means unknown
	Kind      string
	Retracted bool     // or withdrawn
	ListedBy  []string // sorted names of the providers that list it; set by Merge
}

// Settings of a Search.
type Settings struct {
	Providers          []string // names; duplicates are ignored
	OpenAlexKey        string   // if empty, OpenAlex answers about ten searches a day
	SemanticScholarKey string   // if empty, most requests are rejected
	Outside            fetch.Doer
	Pace               fetch.Pace        // shared by all workers
	Addresses          map[string]string // by provider name: scheme, host and path to use instead of the default
}

// Search queries providers. Safe for concurrent use.
type Search struct{ providers []*provider }

// New returns a search of these providers. The error names an unknown provider.
func New(s Settings) (*Search, error) {
	search := &Search{}
	for _, i := range indexes {
		if slices.Contains(s.Providers, i.name) {
			search.providers = append(search.providers, newProvider(i.name, i.service(s), s))
		}
	}
	for _, name := range s.Providers {
		if !slices.Contains(Names(), name) {
			return nil, fmt.Errorf("%q is not a paper index: use %s", name, strings.Join(Names(), ", "))
		}
	}
	if len(search.providers) == 0 {
		return nil, errors.New("no paper provider is configured")
	}
	return search, nil
}

// address returns the address of a provider.
func (s Settings) address(name, own string) string { return cmp.Or(s.Addresses[name], own) }

// Answer is the answer of one provider: papers in its own order, or an error. The error wraps a *fetch.StatusError, a
// *fetch.RefusedError, ErrFormat, ErrQuery, ErrTurn, or context.DeadlineExceeded for a slow provider.
type Answer struct {
	Provider string // provider name
	Papers   []Paper
	Took     time.Duration // includes waiting for its turn
	Err      error
}

// patience is the maximum wait for the slowest provider. The other results are worth more than its answer.
const patience = 30 * time.Second

// Ask queries all providers in parallel and returns one answer per provider, ordered by name. It takes at most 30 s and
// at most three quarters of the time left in ctx. A provider that has not answered by then has an error.
func (s *Search) Ask(ctx context.Context, q Query) []Answer {
	limit := patience
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)*3/4)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answers := make([]Answer, len(s.providers))
	var wg sync.WaitGroup
	for i, p := range s.providers {
		wg.Go(func() {
			start := time.Now()
			papers, err := p.ask(limited, q)
			answers[i] = Answer{Provider: p.name, Papers: papers, Took: time.Since(start), Err: err}
		})
	}
	wg.Wait()
	return answers
}
