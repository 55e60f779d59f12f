package prompts

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"

	"nightdesk/topicqueue"
)

// Quote encloses text in markers that it cannot close, on separate lines:
//
//	<material-1f3a9c20>
//	text
//	</material-1f3a9c20>
//
// The code in the markers does not occur in the text. It is derived from the first line of the text, so that a list
// that grows at its end keeps its opening marker and thus the provider's cached prefix. If the text contains that
// code, the code is derived from the whole text. A page cannot predict it, because including the code would change
// it.
//
// text: any bytes. Quote drops invalid bytes and makes the rest topicqueue.Printable, as sources already are.
// The same text always gives the same result. Never fails.
func Quote(text string) string { return enclose("material", text) }

// quoteTopic is Quote for the user's own words, which are instructions and not mere material.
func quoteTopic(text string) string { return enclose("topic", text) }

func enclose(name, text string) string {
	text = printable(text)
	mark := name + "-" + code(text)
	return "<" + mark + ">\n" + text + "\n</" + mark + ">"
}

var marks = regexp.MustCompile(`(?i)</?[a-z]{1,20}-[0-9a-f]{8}>`)

// remarks matches the notes that templates add to a statement about its number of sources.
var remarks = regexp.MustCompile(` ?\(in \d+ documents\)|（见于 \d+ 个文档）`)

// Unmarked removes text that models copy from a prompt into their answers: Quote's markers, which weak models also
// rename, and notes about the number of sources, which are not from a source.
func Unmarked(text string) string {
	return remarks.ReplaceAllString(marks.ReplaceAllString(text, ""), "")
}

// code returns eight hexadecimal digits that do not occur in text, ignoring case.
func code(text string) string {
	folded := strings.ToLower(text)
	seed, _, _ := strings.Cut(text, "\n")
	for try := 0; ; try++ {
		sum := sha256.Sum256([]byte(seed))
		digits := hex.EncodeToString(sum[:4])
		if !strings.Contains(folded, digits) {
			return digits
		}
		seed = strconv.Itoa(try) + "\x00" + text
	}
}

// printable returns what Quote encloses.
func printable(text string) string { return topicqueue.Printable(strings.ToValidUTF8(text, "")) }
