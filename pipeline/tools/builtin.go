package tools

import (
	"nightdesk/pipeline/tools/papers"
)

// Names of the built-in tools.
const (
	NameRAGHybrid      = "rag_hybrid"
	NameRAGNaive       = "rag_naive"
	NameQueryItem      = "query_item"
	NameWebSearch      = "web_search"
	NamePaperSearch    = "paper_search"
	NameOpenPage       = "open_page"
	NameRunCode        = "run_code"
	NameReportEvidence = "report_evidence"
)

// builtIn holds what must be known of a built-in tool by its name alone, for example about the calls of earlier runs.
type builtIn struct {
	name string
	// scope says who may share answers; the zero value means nobody.
	scope scope
	// verbatim means that every character of a query counts, as in a program or an address.
	verbatim bool
	// form returns the canonical form of a query, see Key. Nil: the query itself if it is verbatim, else its words.
	form func(query string) string
}

// builtIns lists the built-in tools. Package config has their switches, package wiring creates them.
var builtIns = []builtIn{
	{name: NameReportEvidence},
	{name: NameRAGHybrid, scope: private},
	{name: NameRAGNaive, scope: private},
	{name: NameQueryItem, scope: private},
	{name: NameWebSearch, scope: public},
	{name: NamePaperSearch, scope: public, form: func(query string) string { return papers.ParseQuery(query, 0).Key() }},
	{name: NameOpenPage, scope: public, verbatim: true, form: addressForm},
	{name: NameRunCode, verbatim: true}, // not shared: a program depends on the block that wrote it
}

// builtInCalled returns the built-in tool of this name, or the zero value if there is none.
func builtInCalled(name string) builtIn {
	for _, b := range builtIns {
		if b.name == name {
			return b
		}
	}
	return builtIn{}
}

// BuiltInNames returns the names of the built-in tools.
func BuiltInNames() []string {
	names := make([]string, len(builtIns))
	for i, b := range builtIns {
		names[i] = b.name
	}
	return names
}
