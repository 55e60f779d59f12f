// Package markdown parses Markdown: CommonMark 0.31 with GitHub's tables and strikethrough. It returns goldmark's
// syntax tree, whose nodes have byte offsets into the source.
//
// Unlike goldmark alone, the parser takes time proportional to the length of any text. It limits nesting, delimiters
// and failed searches per block. Markup beyond a limit is treated as text.
package markdown
