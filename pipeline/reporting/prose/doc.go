// Package prose reads and cleans the Markdown that a model wrote for a part of a report: paragraphs, statements with
// their citations, headings, repetitions. A report that is a value from the start needs none of it.
package prose
