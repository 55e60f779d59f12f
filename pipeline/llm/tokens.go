package llm

import (
	"unicode/utf8"

	"nightdesk/prompts"
)

// EstimateTokens estimates the number of tokens of a UTF-8 text: one per 4 bytes, and two per 3 Chinese, Japanese or
// Korean characters. The estimate is usually within a quarter of the actual number for prose, and at least 1 for a
// non-empty text.
func EstimateTokens(text string) int {
	wide, rest := 0, 0
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			rest++
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if isWide(r) {
			wide++
		} else {
			rest += size
		}
		i += size
	}
	return (wide*2+2)/3 + (rest+3)/4
}

// isWide reports whether r is in an East Asian script, including kana, hangul and their punctuation.
func isWide(r rune) bool {
	switch {
	case r >= 0x2E80 && r <= 0x9FFF, r >= 0xAC00 && r <= 0xD7AF, r >= 0xF900 && r <= 0xFAFF, r >= 0xFF00 && r <= 0xFFEF,
		r >= 0x20000 && r <= 0x3FFFF:
		return true
	}
	return false
}

const (
	messageTokens = 16  // role marks and separators of a chat
	leastAnswer   = 256 // tokens; a smaller answer is hardly worth a call
	windowReserve = 20  // 1/windowReserve of the window stays free, because the tokens per text vary
)

// promptTokens estimates the tokens of a prompt with its schema, which servers put before the prompt.
func promptTokens(p prompts.Prompt) int {
	return messageTokens + EstimateTokens(p.System) + EstimateTokens(p.User) + EstimateTokens(string(p.Schema))
}

// wanted returns the answer limit before the window is considered; 0: the server's default. The thinking of a
// reasoning model counts against the limit, so the limits of prompts do not apply to it.
func (s RoleSettings) wanted(p prompts.Prompt) int {
	if p.MaxTokens > 0 && !s.Reasoning && (s.MaxTokens == 0 || p.MaxTokens < s.MaxTokens) {
		return p.MaxTokens
	}
	return s.MaxTokens
}

// answerLimit returns the answer limit for a prompt of promptTokens tokens: maxTokens, or what the window leaves if
// that is at least a quarter of maxTokens. ok is false if the prompt is too long.
func answerLimit(promptTokens, contextTokens, maxTokens int) (limit int, ok bool) {
	if contextTokens == 0 {
		return maxTokens, true
	}
	left := contextTokens - promptTokens - contextTokens/windowReserve
	if maxTokens == 0 { // the server's default; it knows its window
		return 0, left >= min(leastAnswer, contextTokens/4)
	}
	if left < min(maxTokens, max(maxTokens/4, min(leastAnswer, contextTokens/4))) {
		return 0, false
	}
	return min(left, maxTokens), true
}
