// Package recurring knows what a topic that is researched again and again remembers from one night to the next, and
// what has changed between them.
//
// Memory is what is kept of a run: its blocks with their claims, its searches with what they found, its pages with
// their versions, and the text of its report. Make makes it of a run that has ended. The next run looks again at just
// that (package researching, Refresh). Span.Moved says what of a text has moved, and Compare puts together what is
// new, changed and withdrawn.
//
// All functions are pure and deterministic; foreign text may make them find nothing, never fail. Where memories are
// kept is the business of package storage.
package recurring
