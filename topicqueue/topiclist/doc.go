// Package topiclist reads lists of topics: text with one a line, CSV with a header row, and JSON Lines. It knows forms
// only: what a topic or an option may be is decided by who enqueues it. Start reading with NewReader and ParseTemplate.
//
// A list is foreign text of any size: it is read as a stream, and what is wrong with one row is said with its line,
// while the rows after it are read on.
package topiclist
