package tools

import (
	_ "embed"
)

//go:embed query_item.md
var queryItemDescription string

// NewQueryItem returns query_item, which returns the passages at a named item. limit: passages per call.
func NewQueryItem(base Retriever, limit int) Tool {
	return &passageTool{
		name: NameQueryItem, description: queryItemDescription, limit: limit, retrieve: base.Item,
		empty: "Give the item's name exactly as the documents do (\"Table 2\", \"§ 4.2\", \"sync.Mutex\"), or search for " +
			"the topic with rag_hybrid.",
	}
}
