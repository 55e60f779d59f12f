package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"

	"nightdesk/storage"
)

// Pieces of the page of a source.
type (
	sourcePage struct {
		Title, RunURL string
		Facts         []fact
		Claims        []claimLine
		Pieces        []piece
	}
	claimLine struct{ Citation, Text, Anchor string }
	piece     struct{ Text, Anchor string } // Anchor: a claim stands on it
)

// source shows a source as a run has read it, with the words that its claims stand on.
func (s *site) source(ctx context.Context, r *http.Request) (string, any, error) {
	run, id := r.PathValue("run"), r.PathValue("source")
	if !runID.MatchString(run) {
		return "", nil, noRun(run)
	}
	all, err := lines[storedSource](ctx, s.Store, storage.CacheKey(run, "sources.jsonl"))
	if err != nil {
		return "", nil, err
	}
	at := slices.IndexFunc(all, func(source storedSource) bool { return source.ID == id })
	if at < 0 || all[at].SHA256 == "" {
		return "", nil, notHere(fmt.Sprintf("Run %s has no source %q with a text.", run, id))
	}
	source := all[at]
	text, err := s.Store.Get(ctx, storage.PageKey(run, source.SHA256))
	if err != nil {
		return "", nil, err
	}
	claims, err := lines[storedClaim](ctx, s.Store, storage.CacheKey(run, "claims.jsonl"))
	if err != nil && !errors.Is(err, storage.ErrNotExist) {
		return "", nil, err
	}
	claims = slices.DeleteFunc(claims, func(c storedClaim) bool {
		return c.Source != id || c.Start < 0 || c.Start >= c.End || c.End > len(text)
	})
	slices.SortStableFunc(claims, func(a, b storedClaim) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	p := sourcePage{Title: source.name(), RunURL: "../../" + name(run),
		Facts: facts("Document", source.Document, "By", strings.Join(source.Authors, ", "), "Publisher", source.Publisher,
			"Date", source.Published, "Kind", source.Kind, "Read", when(source.Read))}
	if strings.HasPrefix(source.URL, "http://") || strings.HasPrefix(source.URL, "https://") {
		p.Facts = append(p.Facts, fact{"Address", source.URL, source.URL})
	}
	p.Pieces, p.Claims = pieces(string(text), claims)
	return p.Title, p, nil
}

// pieces cuts a text at the words that claims stand on, which are in order. Claims on the same words share a piece.
func pieces(text string, claims []storedClaim) (out []piece, list []claimLine) {
	at := 0
	for i, c := range claims {
		anchor := fmt.Sprint("claim-", i+1)
		if c.Start < at { // within the words of the claim before it
			anchor = out[len(out)-1].Anchor
			if c.End > at {
				out[len(out)-1].Text += strings.ToValidUTF8(text[at:c.End], "")
				at = c.End
			}
		} else {
			out = append(out, piece{Text: strings.ToValidUTF8(text[at:c.Start], "")},
				piece{strings.ToValidUTF8(text[c.Start:c.End], ""), anchor})
			at = c.End
		}
		list = append(list, claimLine{c.Citation, c.Text, anchor})
	}
	return append(out, piece{Text: strings.ToValidUTF8(text[at:], "")}), list
}

// served are the folders of the storage that pages lead to.
var served = []string{"reports/", "batches/", "cache/"}

// artefact serves a file of the storage, wherever that is, so that a link to it can be sent to a colleague. Foreign
// text is never shown as a page: what is no page of ours is text, a picture or a download.
func (s *site) artefact(w http.ResponseWriter, r *http.Request) {
	key := r.PathValue("key")
	known := slices.ContainsFunc(served, func(folder string) bool { return strings.HasPrefix(key, folder) })
	if !known || path.Clean(key) != key {
		http.NotFound(w, r)
		return
	}
	body, err := s.Store.Get(r.Context(), key)
	switch {
	case errors.Is(err, storage.ErrNotExist):
		http.NotFound(w, r)
		return
	case err != nil:
		s.Log.Error().Err(err).Str("key", key).Msg("an artefact cannot be served")
		http.Error(w, err.Error(), http.StatusBadGateway)
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
	}
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(body) // the reader is gone
}
