package answer

import (
	"fmt"
	"strings"
	"time"

	"github.com/kaptinlin/jsonrepair"
)

const (
	maxRepair      = 64 << 10 // bytes; the repair library takes quadratic time
	maxRepairDepth = 100
	repairTime     = 2 * time.Second
)

// mended returns possible values of a malformed or unterminated object, the most likely first. If cut, the object is
// only shortened.
func (s *Schema) mended(c candidate, cut bool) []map[string]any {
	var out []map[string]any
	add := func(text string) {
		if value, err := parseObject(text); err == nil {
			s.dropThink(value)
			out = append(out, value)
		}
	}
	text := fixEscapes(c.text)
	if c.open {
		for _, shorter := range shortened(text, cut) {
			add(shorter)
		}
		if cut {
			return out
		}
		end := strings.LastIndexByte(text, '}')
		if end < 0 { // the library would invent the end of a sentence
			return out
		}
		text = text[:end+1] // an unbalanced quote or brace inside
	}
	if repaired, err := repair(text); err == nil {
		add(repaired)
	}
	return out
}

// level is an open object or array of a truncated text.
type level struct {
	close byte
	safe  int // offset after the last complete element
}

// shortened returns closed versions of an unterminated object. The first ends after its last complete element.
// Because the parent of that element may now lack required members, the others end after the last complete element of
// each level above. Only brackets are added. cut means that the last number or word may be incomplete.
func shortened(text string, cut bool) []string {
	var stack []level
	inString, key := false, false // key: in an object, before its colon
	word := false                 // in a number, true, false or null
	complete := func(at int) {
		if len(stack) > 0 && !key {
			stack[len(stack)-1].safe = at
		}
	}
	endWord := func(at int) {
		if word {
			word = false
			complete(at)
		}
	}
scan:
	for i := 0; i < len(text); i++ {
		c := text[i]
		if inString {
			switch c {
			case '\\':
				i++
			case '"':
				inString = false
				complete(i + 1)
			}
			continue
		}
		switch c {
		case '"':
			inString = true
		case '{':
			stack = append(stack, level{'}', i + 1})
			key = true
		case '[':
			stack = append(stack, level{']', i + 1})
			key = false
		case '}', ']':
			endWord(i)
			if len(stack) == 0 || stack[len(stack)-1].close != c {
				break scan // no longer JSON, so keep the text before
			}
			stack = stack[:len(stack)-1]
			key = false
			if len(stack) == 0 {
				return []string{text[:i+1]}
			}
			complete(i + 1)
		case ':':
			key = false
		case ',':
			endWord(i)
			key = len(stack) > 0 && stack[len(stack)-1].close == '}'
		case ' ', '\t', '\r', '\n':
			endWord(i)
		default:
			if !isLetter(c) && !strings.ContainsRune("0123456789-+.", rune(c)) {
				break scan
			}
			word = true
		}
		if len(stack) > maxRepairDepth {
			return nil
		}
	}
	if !cut {
		endWord(len(text))
	}
	return closed(text, stack)
}

// closed returns the text cut after the last complete element of each level, innermost first, with all brackets
// closed.
func closed(text string, stack []level) []string {
	var out []string
	for top := len(stack); top > 0; top-- {
		b := []byte(text[:stack[top-1].safe])
		for i := top - 1; i >= 0; i-- {
			b = append(b, stack[i].close)
		}
		out = append(out, string(b))
	}
	return out
}

// repair runs the repair library within its limits. If it takes longer than repairTime, its goroutine is left behind;
// the limits on size and depth ensure that it ends.
func repair(text string) (string, error) {
	if len(text) > maxRepair {
		return "", fmt.Errorf("repair JSON: %d bytes are more than %d", len(text), maxRepair)
	}
	if d := depth(text); d > maxRepairDepth {
		return "", fmt.Errorf("repair JSON: %d levels are more than %d", d, maxRepairDepth)
	}
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil { // a library bug triggered by foreign text
				done <- result{err: fmt.Errorf("repair JSON: %v", p)}
			}
		}()
		repaired, err := jsonrepair.Repair(text)
		done <- result{repaired, err}
	}()
	timer := time.NewTimer(repairTime)
	defer timer.Stop()
	select {
	case r := <-done:
		return r.text, r.err
	case <-timer.C:
		return "", fmt.Errorf("repair JSON: not done after %s", repairTime)
	}
}

// depth returns the maximum nesting depth of brackets in a text, including those in strings.
func depth(text string) int {
	now, most := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			now++
			most = max(most, now)
		case '}', ']':
			now = max(now-1, 0)
		}
	}
	return most
}
