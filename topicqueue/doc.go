// Package topicqueue holds the words of nightdesk: runs, topic blocks, tool traces, claims, sources and events,
// and the rules of the Dynamic Topic Queue as pure functions.
//
// It does no input or output. Package redisqueue keeps this state in Redis and changes it by scripts; the packages
// below pipeline do the work. Start reading with Run, Block and Duplicate.
package topicqueue
