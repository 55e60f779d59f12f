package papers

import (
	"fmt"

	"nightdesk/pipeline/tools/loosejson"
)

// decoder returns the decoder of answers whose entries are the list at path. paper returns false for an entry that is
// not a paper. Entries without a title are left out.
func decoder(path string, paper func(loosejson.Value) (Paper, bool)) func(body []byte) ([]Paper, error) {
	return func(body []byte) ([]Paper, error) {
		answer, err := loosejson.Parse(body)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		entries, err := answer.Items(path)
		if err != nil && !answer.Has("total") { // Semantic Scholar leaves out an empty list
			return nil, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		var papers []Paper
		for _, entry := range entries {
			if p, ok := paper(entry); ok && p.Title != "" {
				papers = append(papers, p)
			}
		}
		return papers, nil
	}
}

// names returns the text at path in each element of a list.
func names(list []loosejson.Value, path string) []string {
	var out []string
	for _, v := range list {
		out = append(out, v.Text(path))
	}
	return out
}
