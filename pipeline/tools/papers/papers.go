// Package papers searches indexes of scientific literature and makes one list of what they answer.
//
// Each provider is a file: how it is asked, how its answer is read, how often it lets itself be asked. Search.Ask asks
// all at once; one that is slow, broken or used up costs its own answer and no other. Merge, a pure function,
// recognises the same work in several answers and ranks. It does not read papers, only what the indexes say of them.
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

// Names returns the names of all providers.
func Names() []string { return []string{ArXiv, Crossref, EuropePMC, OpenAlex, SemanticScholar} }

// Label returns a provider's name as people know it.
func Label(name string) string {
	if label := labels[name]; label != "" {
		return label
	}
	return name
}

var labels = map[string]string{
	ArXiv: "arXiv", Crossref: "Crossref", EuropePMC: "Europe PMC", OpenAlex: "OpenAlex",
	SemanticScholar: "Semantic Scholar",
}

// Kinds of papers; a kind that no provider tells is empty.
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

// Paper is what indexes say of one work. All texts are one line of plain text but for Abstract, which may have
// paragraphs.
type Paper struct {
	Title     string // without a mark of retraction
	Authors   []string
	Abstract  string // verbatim but for markup and white space; empty: the index has none
	DOI       string // of the published version where there is one; lower case, without a resolver's address
	OtherDOIs []string
	ArXiv     string // 2101.00001, math/0309136: without a version
	PMID      string
	PMCID     string // PMC5815332
	Venue     string // journal, conference, repository
	Date      string // YYYY, YYYY-MM or YYYY-MM-DD
	URL       string // landing page: see Paper.landing
	PDF       string // open access; empty: none is known
	CitedBy   int    // 0 also means: not known
	Kind      string
	Retracted bool     // or withdrawn
	ListedBy  []string // names of the providers that have it, sorted; set by Merge
}

// Fetcher is the way to the outside; *fetch.Client is one.
type Fetcher interface {
	Do(ctx context.Context, r fetch.Request) (fetch.Response, error)
}

// Settings of a Search.
type Settings struct {
	Providers          []string // names; one that is named twice is asked once
	OpenAlexKey        string   // empty: OpenAlex answers about ten searches a day
	SemanticScholarKey string   // empty: Semantic Scholar is asked among all who have none, and refuses often
	CrossrefMailto     string   // address of the operator; empty: Crossref allows fewer requests
	Outside            Fetcher
	Pace               fetch.Pace        // that all workers share
	Addresses          map[string]string // by name: scheme, host and path in the place of the provider's own
}

// Search asks providers. Safe for concurrent use.
type Search struct{ providers []*provider }

// New returns a search of these providers. The error names one that does not exist.
func New(s Settings) (*Search, error) {
	makers := map[string]func(s Settings) service{
		ArXiv: arXiv, Crossref: crossref, EuropePMC: europePMC, OpenAlex: openAlex, SemanticScholar: semanticScholar,
	}
	search := &Search{}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(s.Providers))) {
		maker := makers[name]
		if maker == nil {
			return nil, fmt.Errorf("%q is not a paper index: use %s", name, strings.Join(Names(), ", "))
		}
		search.providers = append(search.providers, newProvider(name, maker(s), s))
	}
	if len(search.providers) == 0 {
		return nil, errors.New("no provider of papers is named")
	}
	return search, nil
}

// address returns where a provider is.
func (s Settings) address(name, own string) string { return cmp.Or(s.Addresses[name], own) }

// Answer is what one provider said: papers in its own order, or an error. A *fetch.StatusError or *fetch.RefusedError
// is in the error's chain, or ErrFormat, ErrQuery, ErrTurn, or context.DeadlineExceeded for one that was too slow.
type Answer struct {
	Provider string // its name
	Papers   []Paper
	Took     time.Duration // with the wait for its turn
	Err      error
}

// patience bounds the wait for the slowest provider: what the others have found is worth more than its answer.
const patience = 30 * time.Second

// Ask asks all providers at once and returns an answer of each, ordered by name. It takes at most three quarters of the
// time that ctx has left, and 30 s: a provider that has not answered by then has an error.
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
