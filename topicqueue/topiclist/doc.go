// Package topiclist reads lists of topics: text with one topic per line, CSV with a header row, and JSON Lines. It
// handles formats only; the caller validates topics and options. Start reading with NewReader and ParseTemplate.
//
// A list is foreign text of any size. It is read as a stream. An error in one row is reported with its line, and the
// rows after it can still be read.
package topiclist
