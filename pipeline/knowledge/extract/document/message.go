package document

import "strings"

// Message holds sender and date from the header of an e-mail.
type Message struct{ From, Sent string }

// Messages finds the first line of each message of a correspondence. It returns nil for fewer than two messages.
func Messages(lines []string) map[int]Message {
	all := map[int]Message{}
	for i := range lines {
		if i > 0 && isField(lines[i-1]) {
			continue
		}
		if m, ok := messageAt(lines[i:]); ok {
			all[i] = m
		}
	}
	if len(all) < 2 {
		return nil
	}
	return all
}

// messageAt reads the header fields of a message at the first line. ok reports whether it has a sender and a date.
func messageAt(lines []string) (m Message, ok bool) {
	for _, line := range lines {
		if !isField(line) {
			break
		}
		switch key, value := fieldOf(line); fields[strings.ToLower(key)] {
		case "from":
			m.From = value
		case "date":
			m.Sent = value
		}
	}
	return m, m.From != "" && ParseDate(m.Sent) != ""
}

// isField reports whether a line is a header field that is not quoted in a reply.
func isField(line string) bool {
	key, _ := fieldOf(line)
	return key != "" && line[0] != '>'
}
