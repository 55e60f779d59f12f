// Package text is what all packages know of plain text: its sentences and blocks, its words, how alike two texts are,
// and where a quotation stands in one.
//
// Texts are in the form that package knowledge/extract makes: paragraphs separated by blank lines, list items
// beginning with "- " or "1. ", code between ``` fences, table rows beginning with "|". Offsets are bytes into the
// given text. All functions are pure and safe for concurrent use; foreign text may make them return nothing, never
// fail.
package text

// span is a stretch of a text: bytes [start, end).
type span struct{ start, end int }
