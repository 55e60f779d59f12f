package text

import "unicode"

// Wide reports whether r is a letter of Chinese, Japanese, Korean or Thai, whose texts are split into characters, not
// words.
func Wide(r rune) bool {
	if r < 0x0e00 {
		return false
	}
	return CJK(r) || unicode.Is(unicode.Thai, r) || r == 'ー' || r == '々'
}

// CJK reports whether r is a letter of Chinese, Japanese or Korean.
func CJK(r rune) bool { return Ideograph(r) || r >= 0x1100 && unicode.Is(unicode.Hangul, r) }

// Ideograph reports whether r is a letter of Chinese or Japanese, which have no spaces between words.
func Ideograph(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
