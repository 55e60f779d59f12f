// Package text handles plain text: sentences and blocks, words, the similarity of texts, and the position of
// quotations.
//
// Texts have the form that package knowledge/extract produces: paragraphs separated by blank lines, list items starting
// with "- " or "1. ", code between ``` fences, table rows starting with "|". Offsets are bytes into the given text. All
// functions are pure and safe for concurrent use. On malformed text they may return nothing, but they never fail.
package text

// span is a part of a text: bytes [start, end).
type span struct{ start, end int }
