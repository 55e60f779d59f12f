package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/citation/bibliography"
	"nightdesk/storage"
)

// kinds maps the bibliography formats to media types.
var kinds = map[string]string{bibliography.BibTeX: "application/x-bibtex; charset=utf-8",
	bibliography.RIS: "application/x-research-info-systems; charset=utf-8",
	bibliography.CSL: "application/vnd.citationstyles.csl+json"}

// bibliographies returns the links to a run's bibliography downloads, relative to the run's page.
func bibliographies(run string) (out []link) {
	labels := map[string]string{bibliography.BibTeX: "BibTeX", bibliography.RIS: "RIS", bibliography.CSL: "CSL-JSON"}
	for _, format := range bibliography.Names() {
		out = append(out, link{Name: labels[format], URL: name(run) + "/bibliography/" + format})
	}
	return out
}

// bibliography serves the sources that a report cites, for reference managers.
func (s downloads) bibliography(w http.ResponseWriter, r *http.Request) {
	run, format := r.PathValue("run"), r.PathValue("format")
	if !runID.MatchString(run) || !slices.Contains(bibliography.Names(), format) {
		http.NotFound(w, r)
		return
	}
	body, err := s.sourcesAs(r.Context(), run, format)
	switch {
	case errors.Is(err, storage.ErrNotExist):
		http.NotFound(w, r)
	case err != nil:
		s.log.Error().Err(err).Str("run", run).Msg("sources not listed")
		http.Error(w, err.Error(), http.StatusBadGateway)
	default:
		w.Header().Set("Content-Type", kinds[format])
		w.Header().Set("Content-Disposition", "attachment; filename="+strconv.Quote(bibliography.File(run, format)))
		_, _ = w.Write(body) // the client has disconnected
	}
}

func (s downloads) sourcesAs(ctx context.Context, run, format string) ([]byte, error) {
	cited, err := bundle.Cited(ctx, s.store, run)
	if err != nil {
		return nil, fmt.Errorf("read the sources of run %s: %w", run, err)
	}
	return bibliography.Make(format, cited)
}
