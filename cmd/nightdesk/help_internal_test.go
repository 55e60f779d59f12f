package main

import (
	"testing"

	"nightdesk/cmd/nightdesk/manual"
)

// TestTopics_Names: a command and a topic cannot have one name, and every topic says what it is about.
func TestTopics_Names(t *testing.T) {
	t.Parallel()
	for _, topic := range manual.Topics() {
		if cmd, _, err := newRoot().Find([]string{topic.Name}); err == nil {
			t.Errorf("%s is a topic and the command %s", topic.Name, cmd.CommandPath())
		}
		if topic.Title == "" || topic.About == "" {
			t.Errorf("the first line of %s.md is not `# Title: about`", topic.Name)
		}
	}
}
