package wiring

import (
	"fmt"
	"os"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/prompts"
)

// OwnPrompts reads and checks the templates of prompts.dir. It returns nil if prompts.dir is not set.
func OwnPrompts(cfg config.Config) (*prompts.Own, error) {
	if cfg.PromptsDir == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(cfg.PromptsDir)
	if err != nil {
		return nil, view.Usage(fmt.Errorf("prompts.dir: %w", err))
	}
	defer root.Close()
	own, err := prompts.ReadOwn(root.FS())
	if err != nil {
		return nil, view.Usage(view.Hint(fmt.Errorf("prompts.dir %s:\n%w", cfg.PromptsDir, err),
			"Correct the files, or remove them. `nightdesk prompts NAME` prints the built-in template."))
	}
	return own, nil
}

// usePrompts makes this process use the templates of prompts.dir.
func usePrompts(cfg config.Config) error {
	own, err := OwnPrompts(cfg)
	if err == nil && own != nil {
		prompts.Use(own)
	}
	return err
}
