package extract_test

import (
	"testing"

	"nightdesk/pipeline/knowledge/extract"
)

// Some generators put the title into a JSON object in the page's first comment.
func TestCommentTitle(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, page, want string }{
		{"json", "<!--{\n\"Title\": \"The Harbour Guide\",\n\"Path\": \"/x\"\n}-->\n<h2>Arrival</h2><p>Ships wait outside.</p>", "The Harbour Guide"},
		{"prose", "<!-- Title: nothing --><h1>Arrival</h1><p>Ships wait outside.</p>", "Arrival"},
		{"broken", `<!--{"Title": "x"--><h1>Arrival</h1><p>Ships wait outside.</p>`, "Arrival"},
		{"later", "<h1>Arrival</h1><p>Ships wait outside.</p><!--{\"Title\": \"x\"}-->", "Arrival"},
		{"no title", `<!--{"Path": "/x"}--><h1>Arrival</h1><p>Ships wait outside.</p>`, "Arrival"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := extract.HTML(tt.page).Title; got != tt.want {
				t.Errorf("title %q, want %q", got, tt.want)
			}
		})
	}
}
