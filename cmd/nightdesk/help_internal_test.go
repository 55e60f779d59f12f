package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// TestHelpRepeatsNoWords: no help text has a word or two words twice in a row, or a brace right after a colon.
func TestHelpRepeatsNoWords(t *testing.T) {
	t.Parallel()
	check := func(where, text string) {
		words := strings.Fields(text)
		for i := range words {
			for _, n := range []int{1, 2} {
				if i+2*n > len(words) || strings.HasSuffix(words[i+n-1], ",") { // "day of month, month"
					continue
				}
				if slices.Equal(words[i:i+n], words[i+n:i+2*n]) {
					t.Errorf("%s says %q twice", where, strings.Join(words[i:i+n], " "))
				}
			}
		}
		if strings.Contains(text, ":{") {
			t.Errorf("%s lacks a space after a colon: %s", where, text)
		}
	}
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		check(cmd.CommandPath(), cmd.Short+"\n\n"+cmd.Long)
		cmd.Flags().VisitAll(func(f *pflag.Flag) { check(cmd.CommandPath()+" --"+f.Name, f.Usage) })
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRoot())
}
