// Package citation makes sure that what a report cites is what the run has found.
//
// A Registry holds the citations of one run. Resolve takes Markdown that a model wrote and leaves only markers and
// links that the registry knows; Render turns the markers into links and builds the list of references that they lead
// to. Text inside code fences, indented code and inline code is never touched. The package does no input or output and
// asks no model; whether a source supports a sentence is not decided here.
package citation
