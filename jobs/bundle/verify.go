package bundle

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/reporting"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// Check is the result of Verify.
type Check struct {
	RunID     string              `json:"run_id"`
	State     topicqueue.RunState `json:"state"`
	Files     int                 `json:"files"`     // listed in the manifest
	Sources   int                 `json:"sources"`   // sources with traces, whose text exists
	Returned  int                 `json:"returned"`  // sources returned by all tool calls
	Claims    int                 `json:"claims"`    // claims of all sources
	Citations int                 `json:"citations"` // distinct ids of citations in the report
	Sentences int                 `json:"sentences"` // sentences with citations
	// sentences that were checked by the rules of another version, with another result
	Otherwise int               `json:"otherwise"`
	Problems  []storage.Problem `json:"problems"`
}

// Verify checks a bundle, using only its files:
//
//   - No file was changed.
//   - The quote of each claim is in its source, at the stated position.
//   - The sources are those that tool calls returned.
//   - Each citation of the report has a source, and each figure a file.
//   - Each sentence with citations gets the recorded result.
//
// The error wraps ErrNoBundle if there are no files of the run. Otherwise it is the store's.
func Verify(ctx context.Context, store storage.Store, runID string) (Check, error) {
	check := Check{RunID: runID, Problems: []storage.Problem{}}
	manifest, problems, err := storage.CheckBundle(ctx, store, runID)
	if errors.Is(err, storage.ErrNotExist) {
		return check, fmt.Errorf("%w %s in %s", ErrNoBundle, runID, store.Location("cache"))
	}
	if err != nil {
		return check, err
	}
	check.Files = len(manifest.Files)
	check.Problems = append(check.Problems, problems...)
	if len(manifest.Files) == 0 {
		return check, nil
	}
	in, err := readBundle(ctx, store, runID)
	if err != nil { // caused by missing or garbled files
		if len(problems) == 0 {
			check.add(storage.ManifestKey(runID), "lists unreadable files: %v", err)
		}
		return check, nil
	}
	check.State = in.Run.State
	traces := in.Traces()
	if err := check.evidence(ctx, store, runID, traces); err != nil {
		return check, err
	}
	v, err := storedVerification(ctx, store, runID)
	if errors.Is(err, storage.ErrGarbled) {
		check.add(verificationJSON.key(runID), "has an invalid format")
	} else if err != nil {
		return check, err
	}
	if err := check.registered(ctx, store, manifest, in, v); err != nil {
		return check, err
	}
	if in.Run.Report == "" {
		return check, nil
	}
	markdown, err := store.Get(ctx, storage.ReportKey(runID))
	if errors.Is(err, storage.ErrNotExist) { // already reported by the manifest check
		return check, nil
	}
	if err != nil {
		return check, err
	}
	check.report(runID, string(markdown), in.Run.Options.CitationStyle, traces)
	check.shown(manifest, string(markdown))
	tree, err := reportJSON.read(ctx, store, runID)
	stored := err == nil // false: written before reports were stored as values
	switch {
	case errors.Is(err, storage.ErrGarbled):
		check.add(reportJSON.key(runID), "has an invalid format")
	case err != nil && !errors.Is(err, storage.ErrNotExist):
		return check, err
	case stored && tree.Markdown(reporting.StyleOf(in.Run)) != string(markdown):
		check.add(storage.ReportKey(runID), "is another text than %s has", reportJSON)
	}
	if v == nil {
		return check, nil
	}
	if err := check.verification(ctx, store, v, in.Input); err != nil || !stored || !v.Verified() {
		return check, err
	}
	registry := in.Registry()
	check.compare(v.Compare(tree, registry, reporting.References(in.Run, registry, tree.Cited())), v.Rules)
	return check, nil
}

// storedVerification reads the recorded check of a run's report. It returns nil if the file is missing, because the
// report was written by a version without checks, or because of a problem that the manifest check reports.
func storedVerification(ctx context.Context, store storage.Store, runID string) (*checking.Verification, error) {
	v, err := verificationJSON.read(ctx, store, runID)
	if err == nil && v.Verification == nil {
		err = storage.ErrGarbled
	}
	return v.Verification, ignoreMissing(err)
}

func (c *Check) add(file, format string, args ...any) {
	c.Problems = append(c.Problems, storage.Problem{File: file, What: fmt.Sprintf(format, args...)})
}

// evidence checks that each claim's quote is in its source, and that claims.jsonl has the claims of the traces. The
// error is the store's.
func (c *Check) evidence(ctx context.Context, store storage.Store, runID string,
	traces []topicqueue.ToolTrace) error {
	file, seen := claimsJSONL.key(runID), map[string]bool{}
	var claims []topicqueue.Claim
	for _, t := range traces {
		if !seen[t.Source.ID] {
			seen[t.Source.ID] = true
			c.Sources++
		}
		text := t.Source.Text
		for _, claim := range slices.Concat(t.Claims, t.Withdrawn) {
			c.Claims++
			switch {
			case claim.Start < 0 || claim.End < claim.Start || claim.End > len(text):
				c.add(file, "%s: its quote is outside the text of its source", claim.ID)
			case text[claim.Start:claim.End] != claim.Quote:
				c.add(file, "%s: its quote is not at the recorded position in %s", claim.ID, path.Base(t.RawAnswer))
			}
		}
		claims = append(claims, t.Claims...)
	}
	listed, err := claimsJSONL.read(ctx, store, runID)
	if err != nil {
		return ignoreMissing(err) // already reported by the manifest check
	}
	if !slices.EqualFunc(claims, listed, func(a topicqueue.Claim, b claimLine) bool { return a == b.Claim }) {
		c.add(file, "does not match the claims of the blocks in queue.json")
	}
	return nil
}

var (
	citedAnchor = regexp.MustCompile(`\]\(#ref-([a-z0-9-]+)\)`)
	givenAnchor = regexp.MustCompile(`<a id="ref-([a-z0-9-]+)"></a> \[`)
)

// report checks that each citation of the report has a reference, and each reference has a source of the run.
func (c *Check) report(runID, markdown, style string, traces []topicqueue.ToolTrace) {
	file, registry := storage.ReportKey(runID), citation.NewRegistry(traces)
	given, code := map[string]bool{}, citation.Code(markdown)
	for _, anchor := range anchors(givenAnchor, markdown, code) {
		given[anchor] = true
		if _, known := registry.Lookup(strings.ToUpper(anchor)); !known && style != topicqueue.CitationNumbered {
			c.add(file, "lists reference %s, but the run has no such source", strings.ToUpper(anchor))
		}
	}
	cited := anchors(citedAnchor, markdown, code)
	for _, anchor := range cited {
		if !given[anchor] {
			c.add(file, "cites %s, which is missing from its references", strings.ToUpper(anchor))
		}
	}
	c.Citations = len(cited)
}

// anchors returns the matches of a pattern in Markdown outside of code, in order and without duplicates.
func anchors(pattern *regexp.Regexp, markdown string, code citation.Spans) []string {
	var found []string
	for _, m := range pattern.FindAllStringSubmatchIndex(markdown, -1) {
		if anchor := markdown[m[2]:m[3]]; !code.Has(m[0]) && !slices.Contains(found, anchor) {
			found = append(found, anchor)
		}
	}
	return found
}

// inBundle matches a link of a report to the run's data: a figure or the output of a program.
var inBundle = regexp.MustCompile(`[^\\]\]\((\.\./cache/[^)\s]*)\)`)

// shown checks that the run's data that the report shows and links is in the bundle.
func (c *Check) shown(m storage.Manifest, markdown string) {
	file := storage.ReportKey(m.RunID)
	for _, match := range inBundle.FindAllStringSubmatch(markdown, -1) {
		key := path.Join(path.Dir(file), match[1])
		// a link to data of an earlier run, of whose text this run has a copy
		if rest, other := strings.CutPrefix(key, "cache/"); other && !strings.HasPrefix(rest, m.RunID+"/") {
			key = storage.CacheKey(m.RunID, rest[strings.IndexByte(rest, '/')+1:])
		}
		if !slices.ContainsFunc(m.Files, func(f storage.File) bool { return f.Key == key }) {
			c.add(file, "links to %s, which is not in the manifest", key)
		}
	}
}

// verification checks each sentence of the report against the record. Its findings and its verdict must match, the
// words quoted by a judge must be in its source. The sources that the report links must be the recorded ones. The error
// is the store's.
func (c *Check) verification(ctx context.Context, store storage.Store, v *checking.Verification,
	in reporting.Input) error {
	if !v.Verified() {
		return nil // there is nothing to check
	}
	file, registry := verificationJSON.key(c.RunID), in.Registry()
	sources, seen := []support.Source{}, map[string]bool{}
	for _, t := range in.Traces() {
		if s := t.Source; !seen[s.ID] {
			seen[s.ID] = true
			sources = append(sources, checking.SupportSource(s, s.Text))
		}
	}
	linked := map[string]bool{}
	for _, l := range v.Links {
		for _, id := range l.Sources {
			linked[id] = true
		}
		if at, level, ok := registry.Lead(l.URL); !ok || registry.At(at).URL != l.Address || level != l.Match {
			c.add(file, "records that %s leads to %s, but the run's sources disagree", l.URL, l.Address)
		}
	}
	for _, s := range in.AllReturned() {
		if !linked[s.ID] || seen[s.ID] || s.Hash == "" {
			continue
		}
		text, err := storage.Pages{Store: store}.Page(ctx, c.RunID, s.Hash)
		if err != nil && !errors.Is(err, storage.ErrNotExist) {
			return err
		}
		sources = append(sources, checking.SupportSource(s, text))
	}
	wrong, otherwise := v.Recheck(sources, in.SourceOf(registry))
	for _, i := range wrong {
		c.add(file, "records sentence %d as %s, but its sources do not confirm that: %s", i+1,
			v.Sentences[i].Verdict, v.Sentences[i].Text)
	}
	c.Sentences, c.Otherwise = len(v.Sentences), otherwise
	return nil
}

// compare adds the differences between the report and its check. Sentences that were found by other rules are only
// counted.
func (c *Check) compare(d checking.Difference, rules int) {
	if rules != support.Rules {
		c.Otherwise += len(d.Absent) + len(d.Unchecked) + len(d.References)
		return
	}
	file := reportJSON.key(c.RunID)
	for _, sentence := range d.Absent {
		c.add(file, "lacks a checked sentence or its citations: %s", sentence)
	}
	for _, sentence := range d.Unchecked {
		c.add(file, "has a sentence that was not checked: %s", sentence)
	}
	for _, entry := range d.References {
		c.add(file, "has a reference that differs from the sources: %s", entry)
	}
}
