package knowledge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
		err = b.attachedAll(ctx, files, report.Skipped)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// checkAttached rejects files that are unusable by type or size, without reading them.
func checkAttached(files []string) error {
	var problems []error
	total := int64(0)
	for _, file := range files {
		info, err := os.Stat(file)
		switch {
		case IsURL(file):
			err = fmt.Errorf("%s is a web address; download the document first", file)
		case err != nil:
		case !info.Mode().IsRegular():
			err = fmt.Errorf("%s is not a file", file)
		case info.Size() > maxFile:
			err = fmt.Errorf("%s has %.1f MB, but at most %d MB per file are allowed",
				file, float64(info.Size())/(1<<20), maxFile>>20)
		default:
			total += info.Size()
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	if total > maxAttachedBytes {
		problems = append(problems, fmt.Errorf("the files have %.1f MB in total, but at most %d MB are allowed",
			float64(total)/(1<<20), maxAttachedBytes>>20))
	}
	return errors.Join(problems...)
}

// attachedAll returns an error that lists the files without text in the base, or nil.
func (b *Base) attachedAll(ctx context.Context, files []string, skipped []Skipped) error {
	why := map[string]string{}
	for _, s := range skipped {
		why[s.Document] = s.Reason
	}
	sources, unusable, _, err := walk(ctx, files)
	if err != nil {
		return err
	}
	documents, err := b.known(ctx)
	if err != nil {
		return err
	}
	var problems []string
	for _, s := range unusable {
		problems = append(problems, s.Document+": "+s.Reason)
	}
	for _, s := range sources {
		switch _, ok := documents[s.key]; {
		case ok:
		case why[s.key] != "":
			problems = append(problems, s.file+": "+why[s.key])
		default:
			problems = append(problems, s.file+": there is no text in it")
		}
	}
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	return nil
}
