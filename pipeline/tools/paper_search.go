package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/papers"
	"nightdesk/topicqueue"
)

//go:embed paper_search.md
var paperSearchDescription string

// Limits of one paper search.
const (
	leastAsked  = 10 // papers to request from each provider; with fewer, the lists hardly overlap
	mostAsked   = 25
	mostAuthors = 10 // authors to list
)

// PaperIndex searches for papers; *papers.Search implements it.
type PaperIndex interface {
	// Ask returns the answer of each provider, within a time limit.
	Ask(ctx context.Context, q papers.Query) []papers.Answer
}

var _ PaperIndex = (*papers.Search)(nil)

// paperSearch is the tool paper_search.
type paperSearch struct {
	index PaperIndex
	limit int
}

// NewPaperSearch returns paper_search. limit: papers with an abstract per call, and listed papers without one.
func NewPaperSearch(index PaperIndex, limit int) Tool { return paperSearch{index, limit} }

// Name returns the tool's name.
func (paperSearch) Name() string { return NamePaperSearch }

// Description returns the description for the model.
func (paperSearch) Description() string { return strings.TrimSpace(paperSearchDescription) }

// Call searches for papers. A paper with an abstract is a source whose text is only the abstract; a paper without an
// abstract is only named. Failed is set if there are no keywords or no provider answered.
func (t paperSearch) Call(ctx context.Context, call Call) (Result, error) {
	query := papers.ParseQuery(call.Query, min(max(2*t.limit, leastAsked), mostAsked))
	if len(query.Terms) == 0 {
		return failed("paper_search needs keywords; it was called with %q.", short(call.Query)), nil
	}
	answers := t.index.Ask(ctx, query)
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	var asked, missing []string
	for _, a := range answers {
		if a.Err == nil {
			asked = append(asked, papers.Label(a.Provider))
			continue
		}
		missing = append(missing, papers.Label(a.Provider)+" "+paperFailure(a.Err))
		level := zerolog.DebugLevel
		if refusesKey(a.Err) {
			level = zerolog.WarnLevel // the operator can fix this
		}
		zerolog.Ctx(ctx).WithLevel(level).Str("provider", a.Provider).Err(a.Err).Msg("paper provider did not answer")
	}
	absence := ""
	if len(missing) > 0 {
		absence = " Not searched: " + strings.Join(missing, "; ") + "."
	}
	if len(asked) == 0 {
		return failed("paper_search could not search.%s Go on with another tool, or try again later.", absence), nil
	}
	found := papers.Merge(answers)
	if len(found) == 0 {
		return Result{Text: fmt.Sprintf("%s: no paper for %q.%s Try fewer or more general keywords, or no range of years.",
			strings.Join(asked, ", "), short(call.Query), absence)}, nil
	}
	return t.result(found, fmt.Sprintf("Papers from %s.%s", strings.Join(asked, ", "), absence)), nil
}

// result builds the answer from the papers found.
func (t paperSearch) result(found []papers.Paper, head string) Result {
	now := time.Now().UTC()
	var result Result
	var text strings.Builder
	var named []string
	text.WriteString(head)
	for _, p := range found {
		switch {
		case p.Abstract != "" && p.URL != "" && len(result.Sources) < t.limit:
			result.Sources = append(result.Sources, paperSource(p, now))
			fmt.Fprintf(&text, "\n\n[%d] %s\n%s\n%s", len(result.Sources), paperTitle(p), paperFacts(p), p.Abstract)
			continue
		case p.Abstract == "" && len(named) < t.limit:
			named = append(named, "- "+paperTitle(p)+". "+paperFacts(p))
		}
		result.Named = append(result.Named, paperSource(p, now))
	}
	if len(named) > 0 {
		fmt.Fprintf(&text, "\n\nThe indexes have no abstract of these; open_page may read them:\n%s",
			strings.Join(named, "\n"))
	}
	result.Text = text.String()
	return result
}

func paperSource(p papers.Paper, now time.Time) topicqueue.Source {
	s := topicqueue.Source{
		Kind: topicqueue.SourcePaper, Title: paperTitle(p), URL: p.URL, Authors: paperAuthors(p.Authors), DOI: p.DOI,
		Publisher: p.Venue,
		Date:      p.Date, RetrievedAt: now, Text: p.Abstract, Hash: topicqueue.TextHash(p.Abstract),
	}
	s.ID = topicqueue.SourceID(s)
	return s
}

func paperTitle(p papers.Paper) string {
	if p.Retracted {
		return "RETRACTED: " + p.Title
	}
	return p.Title
}

func paperAuthors(all []string) []string {
	if len(all) > mostAuthors {
		return append(append([]string(nil), all[:mostAuthors-1]...), "et al.")
	}
	return all
}

// paperFacts returns, on one line, the facts that a reader needs to find and judge a paper.
func paperFacts(p papers.Paper) string {
	var facts []string
	add := func(label, value string) {
		if value != "" {
			facts = append(facts, label+value)
		}
	}
	add("", strings.Join(paperAuthors(p.Authors), ", "))
	add("", p.Venue)
	add("", p.Date)
	add("", p.Kind)
	if p.CitedBy > 0 {
		add("cited by ", strconv.Itoa(p.CitedBy))
	}
	add("DOI ", p.DOI)
	add("arXiv ", p.ArXiv)
	add("PMID ", p.PMID)
	add("", p.PMCID)
	add("", p.URL)
	add("PDF ", p.PDF)
	return strings.Join(facts, "; ")
}

// refusesKey reports whether a provider rejects this installation's key or account, not just this query at this time.
func refusesKey(err error) bool {
	var status *fetch.StatusError
	return errors.As(err, &status) && (status.Status == http.StatusUnauthorized ||
		status.Status == http.StatusPaymentRequired || status.Status == http.StatusForbidden)
}

// paperFailure explains why a provider did not answer. The text follows the provider's name.
func paperFailure(err error) string {
	switch {
	case errors.Is(err, papers.ErrTurn):
		return "(as many requests as it allows are under way or done)"
	case errors.Is(err, papers.ErrQuery):
		return "(it does not understand the query)"
	case errors.Is(err, papers.ErrFormat):
		return "(its answer contains no papers)"
	}
	return "(" + fetch.Words(err) + ")"
}
