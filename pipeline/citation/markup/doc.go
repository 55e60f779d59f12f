// Package markup finds what cites something in Markdown: citation ids, markers such as [CIT-3-01] and [7], links and
// addresses. Normalize removes what disguises them, and Scan lists them with their places, as the syntax tree of
// package markdown has them. Text.Apply writes the text with edits at these places. Code is never changed.
package markup
