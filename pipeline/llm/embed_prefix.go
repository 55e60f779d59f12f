package llm

import "strings"

// prefixes are the texts that a model expects before a query and before a document. Without them these models find
// markedly less; servers do not add them.
type prefixes struct{ query, document string }

const retrievalQuery = "Represent this sentence for searching relevant passages: "

// modelPrefixes is searched in order for a substring of the model's name. Source: the models' cards.
var modelPrefixes = []struct {
	name string
	prefixes
}{
	{"nomic-embed-text", prefixes{"search_query: ", "search_document: "}},
	{"e5-mistral", prefixes{"Instruct: Given a web search query, retrieve relevant passages that answer the " +
		"query\nQuery: ", ""}},
	{"e5-small", prefixes{"query: ", "passage: "}},
	{"e5-base", prefixes{"query: ", "passage: "}},
	{"e5-large", prefixes{"query: ", "passage: "}},
	{"mxbai-embed", prefixes{retrievalQuery, ""}},
	{"bge-small-en", prefixes{retrievalQuery, ""}},
	{"bge-base-en", prefixes{retrievalQuery, ""}},
	{"bge-large-en", prefixes{retrievalQuery, ""}},
	{"arctic-embed2", prefixes{"query: ", ""}},
	{"arctic-embed-l-v2", prefixes{"query: ", ""}},
	{"arctic-embed-m-v2", prefixes{"query: ", ""}},
	{"arctic-embed", prefixes{retrievalQuery, ""}},
	{"embeddinggemma", prefixes{"task: search result | query: ", "title: none | text: "}},
	{"qwen3-embedding",
		prefixes{"Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:", ""}},
}

func prefixesOf(model string) prefixes {
	model = strings.ToLower(model)
	for _, m := range modelPrefixes {
		if strings.Contains(model, m.name) {
			return m.prefixes
		}
	}
	return prefixes{}
}
