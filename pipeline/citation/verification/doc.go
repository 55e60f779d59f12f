// Package verification checks every citation of a finished Markdown text against a registry: reports of other programs,
// and our own once they are rendered. Lists of references and markers are read in the forms that people and models
// write. Entries that lead to no source are removed with their markers, and the numbers are closed. Entry point:
// Verify.
package verification
