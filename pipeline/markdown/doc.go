// Package markdown parses Markdown: CommonMark 0.31 with GitHub's tables and strikethrough. It returns goldmark's
// syntax tree, whose nodes have byte offsets into the source.
//
// Unlike goldmark alone, the parser takes time in proportion to the text, whatever the text is: nesting, delimiters and
// failed searches of one block are limited. Markup beyond a limit is text.
package markdown
