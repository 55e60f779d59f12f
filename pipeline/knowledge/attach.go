package knowledge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Attached is the name under which documents are published that belong to runs and to no knowledge base. CheckName
// refuses it, so that no base has it.
const Attached = "_attached"

// What a run can bring along: all of it is indexed before the run is enqueued.
const (
	maxAttached      = 20
	maxAttachedBytes = 100 << 20
)

// Attach indexes files into a base below dir, to be published and closed. files: paths; a directory or an address is
// refused. Every file must become a document: the error names each that cannot, and why.
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

// checkAttached refuses what need not be read for that.
func checkAttached(files []string) error {
	var problems []error
	total := int64(0)
	for _, file := range files {
		info, err := os.Stat(file)
		switch {
		case IsURL(file):
			err = fmt.Errorf("%s is an address: download the document first", file)
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

// attachedAll returns an error that names the files of which the base has no text.
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
