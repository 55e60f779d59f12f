package wiring

import (
	"context"
	"fmt"
	"os"
	"slices"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/narration"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// NewModel returns the client for the configured models, or nil if there are none. It uses the templates of
// prompts.dir. governor: nil for a command that makes only a few calls. hear: see llm.Settings.
func NewModel(cfg config.Config, governor llm.Governor, hear llm.Hear) (*llm.Client, error) {
	own, err := OwnPrompts(cfg)
	if err != nil {
		return nil, err
	}
	if own != nil {
		prompts.Use(own)
	}
	if !cfg.LLM.Enabled() {
		return nil, nil
	}
	return NewModelClient(cfg, governor, hear, RoleModels(cfg.LLM))
}

// NewModelClient returns the client for the models of the given roles. governor, hear: see NewModel.
func NewModelClient(cfg config.Config, governor llm.Governor, hear llm.Hear, models []RoleModel) (*llm.Client, error) {
	l := cfg.LLM
	roles := map[llm.Role]llm.RoleSettings{}
	for _, m := range models {
		roles[m.Role] = llm.RoleSettings{
			Provider: llm.Provider(m.Provider), Model: m.Name, BaseURL: m.BaseURL.Reveal(), APIKey: m.APIKey.Reveal(),
			Temperature: m.Temperature,
			MaxTokens:   m.MaxTokens, ContextTokens: m.ContextTokens, Reasoning: m.Reasoning,
			Timeout: l.Timeout,
		}
	}
	client, err := llm.NewClient(llm.Settings{
		Roles: roles, Governor: governor, Hear: hear, HTTPClient: llm.NewHTTPClient(idleConnections(cfg)),
		Limits: topicqueue.CallLimits{RequestsPerMinute: l.RequestsPerMinute, TokensPerMinute: l.TokensPerMinute,
			InFlight: l.MaxInFlight},
	})
	if err != nil {
		return nil, view.Usage(err)
	}
	return client, nil
}

// RoleModel is the model of one role.
type RoleModel struct {
	Role llm.Role
	config.Model
}

// RoleModels returns the models of all roles, in the order of their use in a run.
func RoleModels(l config.LLM) []RoleModel {
	return []RoleModel{{llm.Planner, l.Planner}, {llm.Researcher, l.Researcher}, {llm.Note, l.Note},
		{llm.Writer, l.Writer}, {llm.Judge, l.Judge}}
}

// NewEmbedder returns the configured embedder: the built-in model, a server's, or nil if meaning is switched off.
// governor: see NewModel.
func NewEmbedder(cfg config.Config, governor llm.Governor) (knowledge.Embedder, error) {
	e := cfg.Embedding
	switch e.Model {
	case config.NoModel:
		return nil, nil
	case "":
		return meaningOf(cfg), nil
	}
	embedder, err := llm.NewEmbedder(llm.EmbedderSettings{
		Model: e.Model, BaseURL: e.BaseURL.Reveal(), APIKey: e.APIKey.Reveal(),
		Timeout: cfg.LLM.Timeout, Governor: governor,
		HTTPClient: llm.NewHTTPClient(idleConnections(cfg)),
	})
	if err != nil {
		return nil, view.Usage(err)
	}
	return embedder, nil
}

// Unpriced returns the configured models without a known price.
func Unpriced(models config.LLM) ([]string, error) {
	prices, err := llm.ParsePrices(models.Prices)
	if err != nil {
		return nil, fmt.Errorf("llm.prices: %w", err)
	}
	var unknown []string
	for _, m := range RoleModels(models) {
		if _, known := prices.Cost(topicqueue.Usage{Model: m.Name}); !known && !slices.Contains(unknown, m.Name) {
			unknown = append(unknown, m.Name)
		}
	}
	return unknown, nil
}

func PriceHint(model string) string {
	return fmt.Sprintf("Say it in US dollars per million tokens of question and answer, such as %s, or give the "+
		"budget in tokens.", PriceExample(model))
}

func PriceExample(model string) string { return fmt.Sprintf("LLM_PRICES='%s=0.50/1.50'", model) }

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

// CheckModel checks that the model server of a role is reachable and accepts the key and the model name. A worker
// instead waits for an unavailable server, because it has the whole night; someone waiting for one report should hear
// of it at once.
func CheckModel(ctx context.Context, model llm.Model, role llm.Role) error {
	client, ok := model.(*llm.Client)
	if !ok {
		return nil
	}
	if _, err := client.Reach(ctx, role); err != nil {
		return view.Hint(fmt.Errorf("the model cannot be asked: %w", err),
			"`nightdesk doctor` says what is wrong with each role. Without LLM_MODEL, the report is made of quotes alone.")
	}
	return nil
}

// NewSpeech returns the speaker that reads reports aloud. The error is narration.ErrNoEngine or about a setting.
// governor: see NewModel.
func NewSpeech(cfg config.Config, governor llm.Governor) (narration.Speaker, error) {
	s := cfg.Speech
	if !s.Enabled() {
		return narration.FindEspeak(s.VoiceNames()...)
	}
	speaker, err := llm.NewSpeaker(llm.SpeakerSettings{
		Model: s.Model, BaseURL: s.BaseURL.Reveal(), APIKey: s.APIKey.Reveal(), Voices: s.VoiceNames(),
		Timeout: cfg.LLM.Timeout, Governor: governor,
		HTTPClient: llm.NewHTTPClient(idleConnections(cfg)),
		Check: func(wav []byte) error {
			_, err := narration.ReadWAV(wav)
			return err
		},
	})
	if err != nil {
		return nil, view.Usage(err)
	}
	return speaker, nil
}
