package knowledge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Attached is the name under which attachments are published: documents that belong to runs and to no knowledge base.
// CheckName rejects it, so no base can have this name.
const Attached = "_attached"

// Limits for the files attached to one run. All of them are indexed before the run is enqueued.
const (
	maxAttached      = 20
	maxAttachedBytes = 100 << 20
)

// Attach indexes files into a base below dir, which the caller publishes and closes. files are paths of regular files;
// directories and URLs are rejected. Every file must yield text: the error lists each file that does not, with the
// reason.
func Attach(ctx context.Context, dir string, files []string) (*Base, error) {
	if len(files) > maxAttached {
		return nil, fmt.Errorf("%d files are attached, but at most %d are allowed", len(files), maxAttached)
	}
	if err := checkAttached(files); err != nil {
		return nil, err
	}
	b, err := Create(filepath.Join(dir, Attached+suffix))
	if err != nil {
		return nil, err
	}
	report, err := b.Ingest(ctx, files, nil)
	if err == nil || errors.Is(err, ErrEmpty) {
		for _, s := range append(report.Skipped, report.Stubs...) {
			err = errors.Join(err, fmt.Errorf("%s: %s", s.Document, s.Reason))
		}
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// checkAttached rejects what is not a file, and too many bytes.
func checkAttached(files []string) (problems error) {
	total := int64(0)
	for _, file := range files {
		info, err := os.Stat(file)
		switch {
		case IsURL(file):
			err = fmt.Errorf("%s is a web address; download the document first", file)
		case err != nil:
		case !info.Mode().IsRegular():
			err = fmt.Errorf("%s is not a file", file)
		default:
			total += info.Size()
		}
		problems = errors.Join(problems, err)
	}
	if total > maxAttachedBytes {
		problems = errors.Join(problems, fmt.Errorf("the files have %.1f MB in total, but at most %d MB are allowed",
			float64(total)/(1<<20), maxAttachedBytes>>20))
	}
	return problems
}
