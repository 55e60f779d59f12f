package web

import (
	"archive/zip"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/storage"
)

// zip sends all files of a run's bundle under their storage keys, so that `verify` can check them after unpacking.
func (s *site) zip(w http.ResponseWriter, r *http.Request) {
	run := r.PathValue("run")
	if !desk.IsName(run) {
		http.NotFound(w, r)
		return
	}
	manifest, err := s.Store.Get(r.Context(), storage.ManifestKey(run))
	var m storage.Manifest
	if err == nil {
		err = json.Unmarshal(manifest, &m)
	}
	if err != nil {
		s.refuseFile(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", "attachment; filename="+strconv.Quote(run+".zip"))
	archive := zip.NewWriter(w)
	keys := []string{storage.ManifestKey(run)}
	for _, f := range m.Files {
		keys = append(keys, f.Key)
	}
	for _, key := range keys {
		if err := s.addTo(r.Context(), archive, run, key); err != nil {
			if r.Context().Err() == nil {
				s.Console.Log.Error().Err(err).Str("run", run).Msg("a bundle was sent in part")
			}
			panic(http.ErrAbortHandler) // the status is already sent; an aborted download is visibly incomplete
		}
	}
	_ = archive.Close() // the client has disconnected
}

func (s *site) addTo(ctx context.Context, archive *zip.Writer, run, key string) error {
	ofRun := strings.HasPrefix(key, "reports/"+run) || strings.HasPrefix(key, storage.CacheKey(run, ""))
	if !ofRun || path.Clean(key) != key {
		return fmt.Errorf("the bundle lists the foreign file %q", key)
	}
	body, err := s.Store.Get(ctx, key)
	if err != nil {
		return err
	}
	file, err := archive.Create(key)
	if err == nil {
		_, err = file.Write(body)
	}
	return err
}
