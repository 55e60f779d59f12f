package main

import (
	"os"
	"path/filepath"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/topicqueue"
)

// readPages fills in the texts of a bundle's sources from the files next to its sources.jsonl, which are named by hash.
// It returns for each source the other sources of the same page or passage, because a bundle has one line for each
// version and excerpt that a tool returned. A source without a file, or whose file has changed, keeps no text.
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
