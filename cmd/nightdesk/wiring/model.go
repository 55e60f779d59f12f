package wiring

import (
	"fmt"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/knowledge/wordvec"
	"nightdesk/pipeline/llm"
	"nightdesk/topicqueue"
)

// NewModel returns the client for the configured models, or nil if there are none. It uses the templates of
// prompts.dir. governor: nil for a command that makes only a few calls. hear: see llm.Settings.
func NewModel(cfg config.Config, governor llm.Governor, hear llm.Hear) (*llm.Client, error) {
	if err := usePrompts(cfg); err != nil {
		return nil, err
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
			Transport: auto[llm.Transport](m.Transport), TokenField: auto[string](m.TokenField), Timeout: l.Timeout,
			MaxTries: l.MaxTries,
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

// auto converts the setting "auto" to the zero value, which means automatic detection.
func auto[T ~string](setting string) T {
	if setting == "auto" {
		return ""
	}
	return T(setting)
}

// Embedding creates embedders. Static word vectors are loaded only once.
type Embedding struct {
	cfg    config.Config
	static knowledge.Embedder // set after the first use
}

func NewEmbedding(cfg config.Config) *Embedding { return &Embedding{cfg: cfg} }

// Embedder returns the configured embedder, or nil if there is none. governor: see NewModel.
func (v *Embedding) Embedder(governor llm.Governor) (knowledge.Embedder, error) {
	e := v.cfg.Embedding
	if !e.Enabled() || v.static != nil {
		return v.static, nil
	}
	if e.Provider == config.ProviderStatic {
		words, err := wordvec.New(e.Model)
		if err != nil {
			return nil, view.Usage(fmt.Errorf("embedding.model: %w", err))
		}
		v.static = words
		return words, nil
	}
	embedder, err := llm.NewEmbedder(llm.EmbedderSettings{
		Model: e.Model, BaseURL: e.BaseURL.Reveal(), APIKey: e.APIKey.Reveal(), Dimensions: e.Dimensions,
		Timeout: v.cfg.LLM.Timeout, MaxTries: v.cfg.LLM.MaxTries, Governor: governor,
		HTTPClient: llm.NewHTTPClient(idleConnections(v.cfg)),
	})
	if err != nil {
		return nil, view.Usage(err)
	}
	return embedder, nil
}
