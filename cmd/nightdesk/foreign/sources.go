package foreign

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/topicqueue"
)

// parseSources parses one source per line. The error lists all invalid lines.
func parseSources(data []byte) ([]citation.Source, error) {
	var sources []citation.Source
	var bad []error
	scan := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	scan.Buffer(nil, len(data)+1)
	for n := 1; scan.Scan(); n++ {
		line := bytes.TrimSpace(scan.Bytes())
		if len(line) == 0 {
			continue
		}
		s, err := parseSource(line)
		if err != nil {
			bad = append(bad, fmt.Errorf("  line %d: %w", n, err))
			continue
		}
		sources = append(sources, s)
	}
	if err := scan.Err(); err != nil {
		bad = append(bad, err)
	}
	return sources, errors.Join(bad...)
}

// parseSource parses one source, in the format of this command or of a bundle's sources.jsonl.
func parseSource(line []byte) (citation.Source, error) {
	var in struct {
		URL      string `json:"url"`
		Title    string `json:"title"`
		Key      string `json:"citation_key"`
		Text     string `json:"text"`
		Document string `json:"document"`
		Page     int    `json:"page"`
		Hash     string `json:"sha256"`
	}
	if err := json.Unmarshal(line, &in); err != nil {
		var kind *json.UnmarshalTypeError
		switch {
		case errors.As(err, &kind) && kind.Field != "":
			return citation.Source{}, fmt.Errorf("%s of a source is no %s", kind.Field, kind.Value)
		case errors.As(err, &kind):
			return citation.Source{},
				fmt.Errorf(`a source is a JSON object such as {"url": "https://..."}, and no %s`, kind.Value)
		}
		return citation.Source{}, fmt.Errorf("no JSON object of a source: %w", err)
	}
	s := citation.Source{URL: strings.TrimSpace(in.URL), Key: strings.TrimSpace(in.Key), Title: in.Title,
		Text: in.Text, Hash: in.Hash}
	if s.Key == "" && in.Document != "" {
		s.Key = in.Document
		if in.Page > 0 {
			s.Key = fmt.Sprintf("%s, p. %d", in.Document, in.Page)
		}
	}
	if s.URL == "" && s.Key == "" {
		return s, errors.New("a source needs url or citation_key")
	}
	return s, nil
}

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
		places[citation.PlaceOf(*s)] = append(places[citation.PlaceOf(*s)], i)
	}
	others = map[int][]int{}
	for i, s := range sources {
		for _, at := range places[citation.PlaceOf(s)] {
			if at != i {
				others[i] = append(others[i], at)
			}
		}
	}
	return others
}
