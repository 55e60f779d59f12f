package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/desk/reports"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/storage"
)

// Parts of the source page.
type (
	sourcePage struct {
		desk.Source
		RunURL    string
		Claims    []claimLine
		Pieces    []piece
		Sentences []checkLine // sentences of the report that rest on the marked words
		Quoted    bool        // the report quotes the marked words literally
	}
	claimLine struct {
		desk.Claim
		Anchor string
	}
	piece struct {
		Text, Anchor string // Anchor is set if a claim or the selected sentence rests on the text
	}
)

// source shows a source as a run has read it, and marks the words that its claims rest on.
func (s *site) source(ctx context.Context, r *http.Request) (string, any, error) {
	run, id := r.PathValue("run"), r.PathValue("source")
	all, claims, err := s.evidence(ctx, run)
	if err != nil {
		return "", nil, err
	}
	at := slices.IndexFunc(all, func(source desk.Source) bool { return source.ID == id })
	if at < 0 || all[at].Hash == "" {
		return "", nil, notHere(fmt.Sprintf("Run %s has no source %q with text.", run, id))
	}
	source := all[at]
	text, err := s.Store.Get(ctx, storage.PageKey(run, source.Hash))
	if err != nil {
		return "", nil, err
	}
	claims = slices.DeleteFunc(claims, func(c desk.Claim) bool {
		return c.SourceID != id || c.Start < 0 || c.Start >= c.End || c.End > len(text)
	})
	slices.SortStableFunc(claims, func(a, b desk.Claim) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	title, p := sourceName(source), sourcePage{Source: source, RunURL: "../../" + name(run)}
	if !strings.HasPrefix(source.URL, "http://") && !strings.HasPrefix(source.URL, "https://") {
		p.URL = ""
	}
	if cited := r.URL.Query().Get("citation"); cited != "" { // only its words are marked
		claims = slices.DeleteFunc(claims, func(c desk.Claim) bool { return c.CitationID != cited })
		p.Pieces, p.Claims = pieces(string(text), claims, "here")
		err = s.citedAs(ctx, &p, run, cited)
		return title, p, err
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("sentence")); err == nil {
		err = s.pointAt(ctx, &p, run, id, n, string(text))
		return title, p, err
	}
	p.Pieces, p.Claims = pieces(string(text), claims, "claim-1")
	return title, p, nil
}

// citedAs adds the check results of the sentences with a citation.
func (s *site) citedAs(ctx context.Context, p *sourcePage, run, citation string) error {
	v, err := s.Verification(ctx, run)
	if view.KindOf(err) == view.Missing {
		return nil
	}
	for _, c := range v.Sentences {
		if slices.Contains(c.Citations, citation) && c.Action != checking.ActionRemoved {
			p.add(c)
		}
	}
	return err
}

// add shows a sentence of the report and its check result. A supported quotation is only marked in the text, because
// repeating it adds nothing.
func (p *sourcePage) add(c checking.Sentence) {
	if c.Quote && c.Verdict == support.Supported {
		p.Quoted, p.Claims = true, nil
		return
	}
	p.Sentences = append(p.Sentences, checkOf(c))
}

// pointAt marks only the words that sentence n of the report rests on. n counts from 1.
func (s *site) pointAt(ctx context.Context, p *sourcePage, run, source string, n int, text string) error {
	v, err := s.Verification(ctx, run)
	if err != nil {
		return err
	}
	if n < 1 || n > len(v.Sentences) || v.Sentences[n-1].Source != source {
		return notHere(fmt.Sprintf("The report of run %s has no sentence %d that rests on this source.", run, n))
	}
	c := v.Sentences[n-1]
	if c.Start < 0 || c.Start > c.End || c.End > len(text) {
		return notHere("The words of this sentence are not in the text of the source.")
	}
	p.Pieces, _ = pieces(text, []desk.Claim{{Start: c.Start, End: c.End}}, "here")
	p.add(c)
	return nil
}

// pieces splits text at the words that claims rest on. claims are sorted by position. Overlapping claims share a
// piece. first: the anchor of the first claim.
func pieces(text string, claims []desk.Claim, first string) (out []piece, list []claimLine) {
	at := 0
	for i, c := range claims {
		anchor := fmt.Sprint("claim-", i+1)
		if i == 0 {
			anchor = first
		}
		if c.Start < at { // overlaps the previous claim
			anchor = out[len(out)-1].Anchor
			if c.End > at {
				out[len(out)-1].Text += strings.ToValidUTF8(text[at:c.End], "")
				at = c.End
			}
		} else {
			out = append(out, piece{Text: strings.ToValidUTF8(text[at:c.Start], "")},
				piece{Text: strings.ToValidUTF8(text[c.Start:c.End], ""), Anchor: anchor})
			at = c.End
		}
		list = append(list, claimLine{c, anchor})
	}
	return append(out, piece{Text: strings.ToValidUTF8(text[at:], "")}), list
}

// served lists the storage folders that pages link to.
var served = []string{"reports/", "batches/", "cache/"}

// artefact serves a stored file independent of the kind of storage, so that users can share the link. External text
// is never rendered as a page: anything but our own HTML is text, media or a download.
func (s *site) artefact(w http.ResponseWriter, r *http.Request) {
	key := r.PathValue("key")
	known := slices.ContainsFunc(served, func(folder string) bool { return strings.HasPrefix(key, folder) })
	if !known || path.Clean(key) != key {
		http.NotFound(w, r)
		return
	}
	body, err := s.Store.Get(r.Context(), key)
	if err != nil {
		s.refuseFile(w, r, err)
		return
	}
	kind := "text/plain; charset=utf-8"
	policy := "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
	switch ext := path.Ext(key); ext {
	case ".html":
		kind = "text/html; charset=utf-8"
	case ".json", ".jsonl":
		kind = "application/json"
	case ".svg", ".png", ".docx":
		kind = cmp.Or(mime.TypeByExtension(ext), "application/octet-stream")
	case ".mp3", ".opus", ".wav", ".vtt":
		kind = reports.TypeOf(ext[1:])
		policy = "default-src 'none'; media-src 'self'" // browsers show a player in which the file plays itself
	}
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Content-Type", kind)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body)) // players request ranges
}

// report sends a report that is made on demand: as PDF, or its sources for reference managers.
func (s *site) reportFile(w http.ResponseWriter, r *http.Request) {
	run := r.PathValue("run")
	if !desk.IsName(run) {
		http.NotFound(w, r)
		return
	}
	file, err := s.Reports().Report(r.Context(), run, r.PathValue("format"))
	if err != nil {
		s.refuseFile(w, r, err)
		return
	}
	sendFile(w, file.Type(), file.Name, file.Body)
}

// sendFile sends a file that browsers store under a name.
func sendFile(w http.ResponseWriter, kind, name string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", "attachment; filename="+strconv.Quote(name))
	_, _ = w.Write(body) // the client has disconnected
}

// refuse answers a request for a file that cannot be sent.
func (s *site) refuseFile(w http.ResponseWriter, r *http.Request, err error) {
	switch kind := view.KindOf(err); {
	case errors.Is(err, storage.ErrNotExist), kind == view.Missing, kind == view.Misuse:
		http.NotFound(w, r)
	case kind == view.Conflict:
		http.Error(w, view.WithHint(err).Error(), http.StatusNotImplemented)
	default:
		s.Console.Log.Error().Err(err).Str("path", r.URL.Path).Msg("file not sent")
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}
