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

// The title of a page is its only heading of the top level, or what the window says; a note's is neither.
func TestPageTitle(t *testing.T) {
	t.Parallel()
	const ships = "<p>Ships wait outside of the harbour until the tide has turned and the pilot has come on board.</p>"
	for _, tt := range []struct{ name, page, want string }{
		{"one heading", "<title>Arrival - The Harbour</title><h1>Arrival of ships</h1>" + ships, "Arrival of ships"},
		{"numbered parts", "<title>The Harbour Guide</title><h1>1. Overview</h1>" + ships + "<h1>2. Arrival</h1>" + ships, "The Harbour Guide"},
		{"parts without a title", "<h1>1. Overview</h1>" + ships + "<h1>2. Arrival</h1>" + ships, ""},
		{"heading beside the content", `<title>arrival(1)</title><div id="header"><h1>arrival(1) Manual Page</h1></div>` +
			`<div id="content"><h2>Notes</h2>` +
			`<div class="note"><div class="title">Note</div>` + ships + "</div></div>", "arrival(1) Manual Page"},
		{"Doxygen", `<title>Harbour: Arrival</title><div class="header"><div class="title">Arrival Class</div></div>` + ships, "Arrival Class"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := extract.HTML(tt.page).Title; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The date of front matter is read as people write it, also in words.
func TestFrontMatterDate(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"2024-12-12": "2024-12-12", "2024-12-12T08:00:00Z": "2024-12-12", "12 December 2024": "2024-12-12",
		"December 12, 2024": "2024-12-12", "12 Dec 2024": "2024-12-12", "31 February 2024": "", "Christmas": "",
		"Thu, 12 Dec 2024 23:30:00 +0100": "2024-12-12", "12. Dezember 2024": "2024-12-12",
		"12 décembre 2024": "2024-12-12", "12 Décembre 2024": "2024-12-12", "12 de diciembre de 2024": "2024-12-12",
		"2024年12月12日": "2024-12-12", "2024/12/12": "2024-12-12", "12.12.2024": "2024-12-12", "23/12/2024": "2024-12-23",
		"12/23/2024": "2024-12-23", "3/4/2024": "2024", "December 2024": "2024-12", "2024-12": "2024-12", "2024": "2024",
		"2024-13-01": "", "Q4 2024": "", "2024-2025": "", "1 May 2024 to 3 June 2024": "",
	} {
		if got := extract.Markdown("---\ndate: " + written + "\n---\n\n# A letter\n\nDear reader.").Date; got != want {
			t.Errorf("%s: got %q, want %q", written, got, want)
		}
	}
}
