// Package markup finds citation ids, markers such as [CIT-3-01] and [7], links and addresses in Markdown. A Walker
// copies a text and asks what becomes of each of them; code is never changed. Escape writes text that is none of them.
package markup
