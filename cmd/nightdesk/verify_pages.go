package main

import (
	"os"
	"path/filepath"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/topicqueue"
)

// readPages gives the sources of a bundle their texts, which lie beside its sources.jsonl by hash. It returns for each
// source the others that are the same page or passage: a bundle has a line for each version and excerpt that a tool
// returned. A source that nobody has read, or whose text is not what it was, stays without.
func readPages(sources []citation.Source, file string) (others map[int][]int) {
	places := map[string][]int{}
	for i := range sources {
		s := &sources[i]
		if s.Text != "" || s.Hash == "" || s.Hash != filepath.Base(s.Hash) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(filepath.Dir(file), "pages", s.Hash+".txt"))
		if err != nil || topicqueue.TextHash(string(text)) != s.Hash {
			continue
		}
		s.Text = string(text)
		places[placeOf(*s)] = append(places[placeOf(*s)], i)
	}
	others = map[int][]int{}
	for i, s := range sources {
		for _, at := range places[placeOf(s)] {
			if at != i {
				others[i] = append(others[i], at)
			}
		}
	}
	return others
}

func placeOf(s citation.Source) string {
	if place := citation.NormalizeURL(s.URL); place != "" {
		return place
	}
	return strings.ToLower(s.Key)
}
