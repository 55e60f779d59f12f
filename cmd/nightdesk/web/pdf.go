package web

import (
	"errors"
	"net/http"
	"strconv"

	"nightdesk/pipeline/reporting/formats"
	"nightdesk/pipeline/reporting/formats/pdf"
	"nightdesk/storage"
)

// printing limits the number of concurrent browsers for PDFs. Each needs several hundred megabytes.
var printing = make(chan struct{}, 1)

// pdf prints the HTML report on request.
func (s downloads) pdf(w http.ResponseWriter, r *http.Request) {
	run := r.PathValue("run")
	if !runID.MatchString(run) {
		http.NotFound(w, r)
		return
	}
	page, err := s.store.Get(r.Context(), storage.FormatKey(run, formats.NameHTML))
	if errors.Is(err, storage.ErrNotExist) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		s.log.Error().Err(err).Str("run", run).Msg("page of the report not read")
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	printer, err := pdf.Find()
	if err != nil {
		http.Error(w, err.Error()+" on this server. Download the page and print it.", http.StatusNotImplemented)
		return
	}
	select {
	case printing <- struct{}{}:
		defer func() { <-printing }()
	case <-r.Context().Done():
		return
	}
	body, err := printer.Print(r.Context(), page)
	if err != nil {
		s.log.Error().Err(err).Str("run", run).Msg("report not printed as PDF")
		http.Error(w, "The PDF could not be made; the log of the server says why.", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/pdf")
	w.Header().Set("Content-Disposition", "attachment; filename="+strconv.Quote(run+".pdf"))
	_, _ = w.Write(body) // the client has disconnected
}
