// Package remake makes more of a run that has ended, from its files in storage: its report in another form, or as
// audio. What is in storage does not change.
//
// Entry points: [Desk.Replay] and [Desk.Narrate].
package remake

import (
	"context"
	"errors"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/llm"
	"nightdesk/storage"
)

// Desk makes reports again with the models and the speech engine of this process.
type Desk struct {
	Store   storage.Store
	Config  config.Config
	Console *view.Console // for notes
}

// writer returns the model that writes, or nil if none is configured, which without tells.
func (d Desk) writer(ctx context.Context, without string) (*llm.Client, error) {
	model, err := wiring.NewModel(d.Config, nil, nil)
	if err != nil {
		return nil, err
	}
	if model == nil {
		d.Console.Say("%s", without)
		return nil, nil
	}
	return model, wiring.CheckModel(ctx, model, llm.Writer)
}

// NoBundle adds a hint to the error that a run has no bundle. It returns other errors unchanged.
func NoBundle(err error) error {
	if errors.Is(err, bundle.ErrNoBundle) {
		return view.NotFound(err,
			"`nightdesk list` shows which runs have ended; STORAGE_URL or --data-dir says where their bundles are.")
	}
	return err
}
