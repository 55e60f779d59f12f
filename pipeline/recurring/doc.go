// Package recurring keeps the memory of recurring topics between runs and compares runs.
//
// Memory holds the results of a run: blocks with their claims, searches with their results, pages with their versions,
// and the text of the report. Make builds it from an ended run. The next run checks exactly these again (package
// researching, Refresh). Span.Moved returns the changes in a text, and Compare collects what is new, changed and
// withdrawn.
//
// All functions are pure and deterministic. Unusual input makes them find nothing, but never fail. Package storage
// stores memories.
package recurring
