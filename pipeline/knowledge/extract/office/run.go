package office

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"nightdesk/pipeline/knowledge/extract/document"
	"nightdesk/pipeline/knowledge/extract/pdf"
)

// look is how a run of text looks, as far as it changes what is read.
type look struct {
	hidden bool
	tiny   bool // at most one point high
	white  bool
	ground bool // on a ground that may be dark
	struck bool
	raised bool
	font   string
}

// unseen reports whether the text is not to be read.
func (k look) unseen() bool {
	faint := k.white && !k.ground
	return k.hidden || k.tiny || k.struck || faint
}

// line collects the runs of a paragraph as they are seen. The zero value is empty.
type line struct {
	strings.Builder
	raised bool // the last run was raised
}

// write adds a run.
func (l *line) write(text string, k look) {
	if text = signs(text, k.font); text == "" || k.unseen() {
		return
	}
	if k.raised && !l.raised {
		text = document.Raised(l.String(), text)
	}
	l.raised = k.raised
	l.WriteString(text)
}

// wingdings are the signs of the font Wingdings that mean something.
var wingdings = map[byte]string{
	0x4a: "☺", 0x4c: "☹", 0x6c: "●", 0x6e: "■", 0x6f: "□", 0x71: "❑", 0x76: "❖", 0x77: "⬥", 0x9f: "•", 0xa7: "▪",
	0xa8: "☐", 0xd8: "➢", 0xdf: "←", 0xe0: "→", 0xe1: "↑", 0xe2: "↓", 0xe7: "⇐", 0xe8: "➔", 0xef: "⇦", 0xf0: "⇨",
	0xfb: "✗", 0xfc: "✓", 0xfd: "☒", 0xfe: "☑",
}

// signs returns text with the characters of symbol fonts as what they show. Word processors keep them as code points of
// the private use area, old ones as ASCII. Those of unknown fonts are icons and are left out. Mathematical letters
// become plain ones.
func signs(text, font string) string {
	font = strings.ToLower(font)
	symbol, dingbats := strings.HasPrefix(font, "symbol"), strings.HasPrefix(font, "wingdings")
	var b strings.Builder
	for _, r := range text {
		private := r >= 0xf020 && r <= 0xf0ff
		coded := private || (symbol || dingbats) && r < 0x100
		switch {
		case coded && (symbol || font == ""):
			b.WriteString(pdf.Symbol(byte(r)))
		case coded && dingbats:
			b.WriteString(wingdings[byte(r)])
		case private:
		case r >= 0x1d400 && r <= 0x1d7ff:
			b.WriteString(norm.NFKC.String(string(r)))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
