package bundle

import "nightdesk/topicqueue"

type costFile struct {
	Summary costSummary        `json:"summary"`
	Records []topicqueue.Usage `json:"records"`
}

type costSummary struct {
	topicqueue.Totals
	ByRole  map[string]*topicqueue.Totals `json:"by_role"`
	ByStage map[string]*topicqueue.Totals `json:"by_stage"`
	ByModel map[string]*topicqueue.Totals `json:"by_model"`
}

func costs(usage []topicqueue.Usage) costFile {
	by := func(name func(topicqueue.Usage) string) map[string]*topicqueue.Totals {
		groups := map[string]*topicqueue.Totals{}
		for _, u := range usage {
			if groups[name(u)] == nil {
				groups[name(u)] = &topicqueue.Totals{}
			}
			groups[name(u)].Add(u)
		}
		return groups
	}
	return costFile{Summary: costSummary{Totals: topicqueue.Total(usage, nil),
		ByRole:  by(func(u topicqueue.Usage) string { return u.Role }),
		ByStage: by(func(u topicqueue.Usage) string { return u.Stage }),
		ByModel: by(func(u topicqueue.Usage) string { return u.Model }),
	}, Records: list(usage)}
}
