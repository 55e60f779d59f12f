package doctor

import (
	"context"
	"fmt"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/pipeline/knowledge"
	"nightdesk/storage"
)

func checkStorage(ctx context.Context, cfg config.Config, con *view.Console) []checkup {
	s, err := wiring.OpenWritableStore(ctx, cfg, con)
	if err != nil {
		return []checkup{failure("storage", err)}
	}
	out := []checkup{{Name: "storage", Result: "ok", Text: s.Location("reports") + " can be written"}}
	dirs := []string{cfg.DataDir}
	if _, local := s.(*storage.Dir); local {
		dirs = append(dirs, s.Location(""))
	}
	return append(out, checkRoom(ctx, cfg, con, dirs...)...)
}

func checkKnowledge(_ context.Context, cfg config.Config, _ *view.Console) []checkup {
	names, err := knowledge.List(wiring.KnowledgeDir(cfg))
	if err != nil {
		return []checkup{failure("knowledge", err)}
	}
	if len(names) == 0 {
		return []checkup{{Name: "knowledge", Result: "note", Text: "there is no knowledge base yet",
			Hint: "Make one with `nightdesk kb add --name NAME DIR`, or give --kb DIR to `run`."}}
	}
	return []checkup{{Name: "knowledge", Result: "ok", Text: fmt.Sprintf("%s in %s", view.Counted(len(names),
		"knowledge base"),
		wiring.KnowledgeDir(cfg))}}
}

// checkEmbedding checks the settings of the embedding model. It does not call the server.
func checkEmbedding(_ context.Context, cfg config.Config, _ *view.Console) []checkup {
	const name = "embedding"
	if !cfg.Embedding.Enabled() {
		return []checkup{{Name: name, Result: "note",
			Text: "EMBEDDING_MODEL is not set: knowledge bases are searched by words",
			Hint: "Set EMBEDDING_MODEL to search by meaning too."}}
	}
	if _, err := wiring.NewEmbedder(cfg, nil); err != nil {
		return []checkup{failure(name, err)}
	}
	return nil
}

// checkRoom returns a failure if one of the directories has too little free space for a night.
func checkRoom(ctx context.Context, cfg config.Config, con *view.Console, dirs ...string) []checkup {
	runs := int64(0) // unfinished runs, if there is a queue
	if d, err := wiring.OpenDesk(ctx, cfg, con, false); err == nil {
		defer d.Close()
		runs, _ = unfinished(ctx, d)
	}
	for _, dir := range dirs {
		if t := smallRoom(dir, runs); t.Text != "" {
			return []checkup{{Name: t.Of, Result: "failed", Text: t.Text, Hint: t.Hint}}
		}
	}
	return nil
}
