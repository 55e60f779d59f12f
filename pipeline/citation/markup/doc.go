// Package markup finds what cites something in Markdown: citation ids, markers such as [CIT-3-01] and [7], links and
// addresses. Scan lists them with their places, as the syntax tree of package markdown has them; an Editor writes the
// text with what becomes of each. Code is never changed. Escape writes text that is none of them.
package markup
