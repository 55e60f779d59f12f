// Package recurring knows what a topic that is researched again and again remembers from one night to the next, and what has
// changed between them.
//
// Memory is what is kept of a run: its blocks with their claims, its searches with what they found, its pages with their
// versions and sentences, and the text of its report. Make makes it of a run that has ended. The next run looks again at just
// that (package researching, Refresh), and Compare says what is new, changed, withdrawn and still open. Units and Marks say what of
// a page counts: its sentences, in whatever order, and neither its menus nor the date of its delivery.
//
// All functions are pure and deterministic; foreign text may make them find nothing, never fail. Where memories are kept is the
// business of package storage.
package recurring
