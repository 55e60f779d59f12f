// Package citation ensures that a report cites only sources that the run has found.
//
// A Registry holds the citations of one run. Resolve takes Markdown that a model wrote and leaves only markers and
// links that the registry knows; Render turns the markers into links and builds the list of references for them. Text
// inside code fences, indented code and inline code is never changed. The package does no input or output and calls no
// model.
//
// Package markup finds markers and links in Markdown, address finds the source that a URL identifies, verification
// checks the citations of a finished text, and support checks whether a source supports a sentence.
package citation
