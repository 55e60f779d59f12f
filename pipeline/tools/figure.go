package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"nightdesk/pipeline/tools/sandbox"
	"nightdesk/topicqueue"
)

// Figure is a picture that a call made.
type Figure struct {
	topicqueue.Figure
	Body []byte
}

const figuresDir = "figures/"

func newFigure(f sandbox.Figure) Figure {
	sum := sha256.Sum256(f.Body)
	return Figure{
		Figure: topicqueue.Figure{Path: figuresDir + hex.EncodeToString(sum[:]) + ".svg", Title: f.Title},
		Body:   f.Body,
	}
}

// FigureStore must also be implemented by the Pages of a Runner whose tools make pictures.
type FigureStore interface {
	// PutFigure stores a picture at Figure.Path in the run's bundle; storing the same picture again is harmless.
	PutFigure(ctx context.Context, runID, path string, body []byte) error
}

// storeFigures stores the pictures in the run's bundle.
func (r *Runner) storeFigures(ctx context.Context, runID string, figures []Figure) error {
	if len(figures) == 0 {
		return nil
	}
	store, ok := r.Pages.(FigureStore)
	if !ok {
		return errors.New("store figures: the run's bundle does not accept figures")
	}
	for _, f := range figures {
		if err := store.PutFigure(ctx, runID, f.Path, f.Body); err != nil {
			return fmt.Errorf("store %s of run %s: %w", f.Path, runID, err)
		}
	}
	return nil
}
