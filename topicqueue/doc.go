// Package topicqueue defines the domain types of nightdesk: runs, topic blocks, tool traces, claims, sources and
// events. It also has the rules of the Dynamic Topic Queue as pure functions.
//
// It does no input or output. Package redisqueue stores this state in Redis and changes it with scripts; the packages
// below pipeline do the work. Start reading with Run, Block and Duplicate.
package topicqueue
