package text

import "unicode"

// Wide reports whether r belongs to a script that is written without spaces between words.
func Wide(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai) ||
		r == 'ー' || r == '々'
}
