// Package verification checks every citation of a Markdown report of another program against a registry: entries of the
// references, markers, footnotes and links. Entries that lead to no source are removed with their markers, and the
// numbers are closed. Entry point: Verify.
package verification
