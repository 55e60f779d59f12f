package narration

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"

	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/text"
)

// part is a section of a report.
type part struct {
	title      string // without markup; empty: the text before the first section
	paragraphs []string
	source     string // Markdown without citations
}

// cited matches a citation in a report, such as [[CIT-3-01](#ref-cit-3-01)] or [[1](#ref-1)].
var cited = regexp.MustCompile(`\s?\[\[[^\[\]\n]*\]\(#ref-[^()\s]*\)\]`)

var parser = markdown.NewParser()

// read returns the title of a report and its sections before the references. headed: skip a block quote with run data
// between title and opening.
func read(report, references string, headed bool) (title string, parts []part) {
	source := []byte(cited.ReplaceAllString(strings.ToValidUTF8(report, "\uFFFD"), ""))
	parts = []part{{}}
	from := 0
	end := func(at int) {
		parts[len(parts)-1].source = strings.TrimSpace(string(source[from:at]))
		from = at
	}
	for n := parser.Parse(source).FirstChild(); n != nil; n = n.NextSibling() {
		if quote, ok := n.(*ast.Blockquote); ok && headed && title != "" {
			headed, from = false, blockEnd(source, quote)
			continue
		}
		h, ok := n.(*ast.Heading)
		if !ok || h.Level > 2 {
			headed = headed && title == ""
			parts[len(parts)-1].paragraphs = append(parts[len(parts)-1].paragraphs, paragraphs(n, source)...)
			continue
		}
		words := speakable(inline(h, source))
		if h.Level == 1 && title == "" {
			title = words
			from = lineEnd(source, h)
			continue
		}
		end(lineStart(source, h, from))
		if words == references {
			return title, parts
		}
		parts = append(parts, part{title: words})
		from = lineEnd(source, h)
	}
	end(len(source))
	return title, parts
}

// lineStart returns the start of a heading's line, or otherwise for a heading without words.
func lineStart(source []byte, h *ast.Heading, otherwise int) int {
	if h.Lines().Len() == 0 {
		return otherwise
	}
	return strings.LastIndexByte(string(source[:h.Lines().At(0).Start]), '\n') + 1
}

// blockEnd returns the end of the last line of a block's last paragraph.
func blockEnd(source []byte, block ast.Node) int {
	last := block.LastChild()
	if last == nil || last.Type() != ast.TypeBlock || last.Lines().Len() == 0 {
		return 0
	}
	return last.Lines().At(last.Lines().Len() - 1).Stop
}

func lineEnd(source []byte, h *ast.Heading) int {
	if h.Lines().Len() == 0 {
		return 0
	}
	at := h.Lines().At(h.Lines().Len() - 1).Stop
	if i := strings.IndexByte(string(source[at:]), '\n'); i >= 0 {
		return at + i + 1
	}
	return len(source)
}

// paragraphs returns the prose of a block. Tables, code and pictures are not spoken.
func paragraphs(n ast.Node, source []byte) (out []string) {
	switch n.(type) {
	case *ast.Heading, *ast.Paragraph, *ast.TextBlock:
		if words := speakable(inline(n, source)); words != "" {
			return []string{words}
		}
	case *ast.Blockquote, *ast.List, *ast.ListItem:
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			out = append(out, paragraphs(c, source)...)
		}
	}
	return out
}

// inline returns the words of a paragraph, without pictures.
func inline(parent ast.Node, source []byte) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			raw := string(n.Segment.Value(source))
			if !n.IsRaw() {
				raw = markdown.Plain(raw)
			}
			b.WriteString(raw)
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.CodeSpan:
			b.WriteString(markdown.Code(n, source))
		case *ast.AutoLink:
			b.Write(n.Label(source))
		case *ast.RawHTML, *ast.Image:
		default:
			b.WriteString(inline(n, source))
		}
	}
	return b.String()
}

var (
	address = regexp.MustCompile(`(?:https?://|www\.)[^\s<>()\[\]，。；、]+`)
	// marker matches citations in forms that a model may write: [CIT-3-01], [1, 2], [^3], CIT-3-01.
	marker = regexp.MustCompile(`\s?\[\^?(?:CIT-\d+-\d+|PLAN-\d+|\d+(?:\s*[,;–-]\s*\d+)*)\]` +
		`|\s?\b(?:CIT-\d+-\d+|PLAN-\d+)\b`)
	beforeStop  = regexp.MustCompile(`\s+([.,;:!?…，。；：！？、])`)
	emptyPair   = regexp.MustCompile(`\(\s*\)|\[\s*\]|（\s*）`)
	notSpeech   = strings.NewReplacer("[", "(", "]", ")", "*", " ", "`", " ", "|", " ", "_", " ")
	pictureWord = regexp.MustCompile(`[\p{So}\x{200d}\x{fe0f}]`)
)

// speakable converts text to one line that can be spoken: without markers, addresses and markup.
func speakable(words string) string {
	words = marker.ReplaceAllString(words, "")
	words = address.ReplaceAllStringFunc(words, host)
	words = pictureWord.ReplaceAllString(notSpeech.Replace(words), "")
	words = emptyPair.ReplaceAllString(words, "")
	return beforeStop.ReplaceAllString(text.Line(words), "$1")
}

// host returns the spoken form of an address: its host name.
func host(address string) string {
	stop := strings.TrimRight(address, ".,;:!?")
	tail := address[len(stop):]
	if !strings.Contains(stop, "://") {
		stop = "https://" + stop
	}
	u, err := url.Parse(stop)
	if err != nil {
		return tail
	}
	return strings.TrimPrefix(u.Hostname(), "www.") + tail
}

// said returns the paragraphs of a model's spoken text, without Markdown.
func said(written string) []string {
	source := []byte(strings.ToValidUTF8(written, "\uFFFD"))
	var out []string
	for n := parser.Parse(source).FirstChild(); n != nil; n = n.NextSibling() {
		out = append(out, paragraphs(n, source)...)
	}
	return out
}
