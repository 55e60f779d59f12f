package storage

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
)

// Problem describes a file of a bundle that differs from what was stored.
type Problem struct {
	File string `json:"file"` // key of the file
	What string `json:"problem"`
}

// CheckBundle compares all files under a run's keys with the run's manifest, byte for byte. The problems are sorted
// by file. If the manifest is missing or unreadable, that is the only problem and the returned manifest has no files.
// The error wraps ErrNotExist if the run has no files; otherwise it comes from the store.
func CheckBundle(ctx context.Context, s Store, runID string) (Manifest, []Problem, error) {
	var m Manifest
	at := ManifestKey(runID)
	body, err := s.Get(ctx, at)
	if errors.Is(err, ErrNotExist) {
		rest, listErr := s.List(ctx, CacheKey(runID, ""))
		if listErr != nil || len(rest) == 0 {
			return m, nil, cmp.Or(listErr, err)
		}
		return m, []Problem{{at,
			fmt.Sprintf("is missing although there are %d other files: it is written last, so either the run is not "+
				"completely stored or the file was removed", len(rest))}}, nil
	}
	if err != nil {
		return m, nil, err
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return Manifest{}, []Problem{{at, "is not a valid manifest: " + err.Error()}}, nil
	}
	var problems []Problem
	sum, err := m.sum()
	if err != nil {
		return m, nil, fmt.Errorf("encode %s: %w", at, err)
	}
	switch again, err := encodeJSON(m); {
	case err != nil:
		return m, nil, fmt.Errorf("encode %s: %w", at, err)
	case m.RunID != runID:
		problems = append(problems, Problem{at, "is the manifest of run " + m.RunID})
	case m.SHA256 == "":
		problems = append(problems, Problem{at, "has no checksum of its own"})
	case m.SHA256 != sum || !bytes.Equal(again, body):
		problems = append(problems, Problem{at, "was changed: it does not match its own checksum"})
	}
	changed, err := checkFiles(ctx, s, m.Files)
	if err != nil {
		return m, nil, err
	}
	unlisted, err := unlisted(ctx, s, m)
	if err != nil {
		return m, nil, err
	}
	problems = slices.Concat(problems, changed, unlisted)
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.File, b.File) })
	return m, problems, nil
}

// checkFiles compares files with their manifest entries.
func checkFiles(ctx context.Context, s Store, files []File) ([]Problem, error) {
	var mu sync.Mutex
	var problems []Problem
	err := Each(ctx, len(files), func(ctx context.Context, i int) error {
		f := files[i]
		body, err := s.Get(ctx, f.Key)
		what := ""
		switch {
		case errors.Is(err, ErrNotExist):
			what = "is missing"
		case err != nil:
			return err
		case len(body) != f.Size:
			what = fmt.Sprintf("has %d bytes, but the manifest says %d", len(body), f.Size)
		case sumOf(body) != f.SHA256:
			what = "was changed: its SHA-256 differs from the manifest"
		case namedByHash(f.Key) && strings.TrimSuffix(path.Base(f.Key), path.Ext(f.Key)) != f.SHA256:
			what = "was changed: its text does not match its name, which is a hash"
		default:
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		problems = append(problems, Problem{f.Key, what})
		return nil
	})
	return problems, err
}

// namedByHash reports whether a file is named by the hash of its content.
func namedByHash(key string) bool {
	dir := path.Base(path.Dir(key))
	return dir == "pages" || dir == "figures"
}

// Unlisted is the problem text for a file that is missing from the manifest.
const Unlisted = "is not in the manifest"

// unlisted finds files of the run that are missing from its manifest.
func unlisted(ctx context.Context, s Store, m Manifest) ([]Problem, error) {
	var problems []Problem
	for _, prefix := range []string{CacheKey(m.RunID, ""), "reports/" + m.RunID} {
		keys, err := s.List(ctx, prefix)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			if key != ManifestKey(m.RunID) && !slices.ContainsFunc(m.Files, func(f File) bool { return f.Key == key }) {
				problems = append(problems, Problem{key, Unlisted})
			}
		}
	}
	return problems, nil
}
