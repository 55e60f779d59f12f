package api

import (
	"context"
	"net/http"
	"slices"

	"nightdesk/pipeline/knowledge"
)

// bases serves the endpoints of knowledge bases.
type bases struct {
	all func(ctx context.Context) ([]knowledge.Info, error)
}

// BaseList is the list of knowledge bases on the serving machine.
type BaseList struct {
	Bases []knowledge.Info `json:"knowledge_bases"`
}

func (b bases) endpoints() []endpoint {
	return []endpoint{
		{method: http.MethodGet, path: "/knowledge", id: "listKnowledge", answer: BaseList{}, do: b.list,
			about: "Knowledge bases of the machine that serves; `kb` of an order names one"},
		{method: http.MethodGet, path: "/knowledge/{name}", id: "readKnowledge", answer: knowledge.Info{}, do: b.read,
			about: "One knowledge base", refusals: []int{http.StatusNotFound}, params: []param{{name: "name", in: inPath,
				about: "Name of a knowledge base", required: true, pattern: namePattern}}},
	}
}

func (b bases) list(c *call) (any, error) {
	all, err := b.all(c.Context())
	if err != nil {
		return nil, err
	}
	return BaseList{list(all)}, nil
}

func (b bases) read(c *call) (any, error) {
	all, err := b.all(c.Context())
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(k knowledge.Info) bool { return k.Name == c.PathValue("name") })
	if i < 0 {
		return nil, problem(http.StatusNotFound, "/v1/knowledge lists those that there are.",
			"there is no knowledge base %q", c.PathValue("name"))
	}
	return all[i], nil
}
