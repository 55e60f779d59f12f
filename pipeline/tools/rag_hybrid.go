package tools

import (
	"context"
	_ "embed"

	"nightdesk/pipeline/knowledge"
)

//go:embed rag_hybrid.md
var ragHybridDescription string

// NewRAGHybrid returns rag_hybrid: retrieval by several rankings, from several documents. limit: passages per call.
func NewRAGHybrid(base Retriever, limit int) Tool {
	return &passageTool{
		name: NameRAGHybrid, description: ragHybridDescription, limit: limit,
		retrieve: func(ctx context.Context, query string, limit int) ([]knowledge.Passage, error) {
			return base.Search(ctx, query, limit, knowledge.Hybrid)
		},
		empty: "Try other words for the same thing, or a broader question.",
	}
}
