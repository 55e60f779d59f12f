package view

import (
	"bytes"
	"os"
	"testing"
)

func TestLayOutTables(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text, want string
		width      int
	}{
		"aligned": {
			text:  "Before.\n\n| a | b |\n|---|---|\n| long cell | `x\\|y` |\n\nAfter.\n",
			want:  "Before.\n\na          b\nlong cell  `x|y`\n\nAfter.\n",
			width: 80,
		},
		"too wide": {
			text:  "| name | what |\n|---|---|\n| one | two three four five |\n",
			want:  "name\n    what\none\n    two three\n    four five\n",
			width: 14,
		},
		"code stays": {
			text:  "```sh\n| a | b |\n```\n",
			want:  "```sh\n| a | b |\n```\n",
			width: 4,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := layOutTables(test.text, test.width); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestPager: the pager of the user gets the text; without one, the caller prints it.
func TestPager(t *testing.T) {
	t.Parallel()
	for pager, want := range map[string]string{"head -n 1": "one\n", "no-such-pager": ""} {
		var out bytes.Buffer
		con := &Console{Out: &out, Err: os.Stderr}
		getenv := func(name string) string {
			return map[string]string{"PAGER": pager}[name]
		}
		err := inPager(con, getenv, "one\ntwo\n")
		if out.String() != want || (err == nil) != (want != "") {
			t.Errorf("PAGER=%q: %q, %v", pager, out.String(), err)
		}
	}
}
