package tools

import (
	"context"
	_ "embed"

	"nightdesk/pipeline/knowledge"
)

//go:embed rag_naive.md
var ragNaiveDescription string

// NewRAGNaive returns rag_naive: retrieval by the text alone. limit: passages per call.
func NewRAGNaive(base Retriever, limit int) Tool {
	return &passageTool{
		name: NameRAGNaive, description: ragNaiveDescription, limit: limit,
		retrieve: func(ctx context.Context, query string, limit int) ([]knowledge.Passage, error) {
			return base.Search(ctx, query, limit, knowledge.Naive)
		},
		empty: "Try fewer words, or words that the documents themselves would use.",
	}
}
