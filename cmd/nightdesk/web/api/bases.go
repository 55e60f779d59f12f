package api

import (
	"net/http"

	desk "nightdesk/cmd/nightdesk/bases"
	"nightdesk/pipeline/knowledge"
)

// bases serves the endpoints of knowledge bases.
type bases struct{ desk *desk.Bases }

func (b bases) endpoints() []endpoint {
	return []endpoint{
		{method: http.MethodGet, path: "/knowledge", id: "listKnowledge", answer: desk.BaseList{},
			about: "Knowledge bases of the machine that serves; `kb` of an order names one",
			do:    func(c *call) (any, error) { return b.desk.List(c.Context()) }},
		{method: http.MethodGet, path: "/knowledge/{name}", id: "readKnowledge", answer: knowledge.Info{},
			about: "One knowledge base", refusals: []int{http.StatusNotFound}, params: []param{{name: "name", in: inPath,
				about: "Name of a knowledge base", required: true, pattern: namePattern}},
			do: func(c *call) (any, error) { return b.desk.Info(c.Context(), c.PathValue("name")) }},
	}
}
