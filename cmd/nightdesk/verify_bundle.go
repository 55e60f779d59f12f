package main

import (
	"context"
	"errors"
	"fmt"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/bundle"
)

// verifyBundle verifies the bundle of a run with the files in storage alone.
func verifyBundle(ctx context.Context, s *session, name string) error {
	store, runID, err := s.openRun(ctx, name)
	if err != nil {
		return err
	}
	check, err := bundle.Verify(ctx, store, runID)
	if err != nil {
		return noBundle(err)
	}
	if s.JSON {
		if err := s.PrintJSON(check, false); err != nil {
			return err
		}
	} else {
		for _, p := range check.Problems {
			fmt.Fprintf(s.Out, "%s %s\n", p.File, p.What)
		}
		fmt.Fprintf(s.Out,
			"%s: %d files, %d claims of %d sources among %d that tools returned, %d citations, %d sentences with citations: ",
			runID, check.Files, check.Claims, check.Sources, check.Returned, check.Citations, check.Sentences)
		if len(check.Problems) == 0 {
			fmt.Fprintln(s.Out, "no problems found")
		} else {
			fmt.Fprintln(s.Out, view.Counted(len(check.Problems), "problem"))
		}
	}
	if check.Outside > 0 {
		s.Say("%s of the report could not be checked when it was written: see \"outside\" in verification.json",
			view.Counted(check.Outside, "passage"))
	}
	if check.Otherwise > 0 {
		s.Say("%s checked by another version's rules get other verdicts by this version's rules; this is not a "+
			"fault",
			view.Counted(check.Otherwise, "sentence"))
	}
	if len(check.Problems) > 0 {
		return view.Ended(errors.New("the files do not match what the bundle records; the lines above say where"),
			view.ExitFailed)
	}
	return nil
}

// noBundle adds a hint to the error that a run has no bundle. It returns other errors unchanged.
func noBundle(err error) error {
	if errors.Is(err, bundle.ErrNoBundle) {
		return view.Usage(view.Hint(err,
			"`nightdesk list` shows which runs have ended; STORAGE_URL or --data-dir says where their bundles are."))
	}
	return err
}
