package narration

import (
	"regexp"
	"strings"

	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
)

// part is a section of a report.
type part struct {
	title      string // empty: the text before the first section
	conclusion bool
	paragraphs []string
	blocks     []report.Block
}

// partsOf returns the answer of a report and its sections.
func partsOf(r report.Report) []part {
	parts := []part{{}}
	for _, s := range r.Sections {
		if s.Role != report.RoleAnswer {
			parts = append(parts, part{title: speakable(s.Title), conclusion: s.Role == report.RoleConclusion,
				paragraphs: paragraphs(s.Blocks), blocks: s.Blocks})
			continue
		}
		parts[0].blocks, parts[0].paragraphs = s.Blocks, paragraphs(s.Blocks)
	}
	return parts
}

// paragraphs returns the prose of blocks. Tables, code and pictures are not spoken.
func paragraphs(blocks []report.Block) (out []string) {
	for _, b := range blocks {
		switch b.Kind {
		case report.KindHeading, report.KindParagraph:
			var words strings.Builder
			for i, s := range b.Sentences {
				if i > 0 {
					words.WriteString(report.Between(b.Sentences[i-1].Text, s.Text))
				}
				words.WriteString(report.Text(s.Text))
			}
			if spoken := speakable(words.String()); spoken != "" {
				out = append(out, spoken)
			}
		case report.KindList, report.KindQuote, report.KindExcerpt:
			out = append(out, paragraphs(b.Blocks)...)
			for _, item := range b.Items {
				out = append(out, paragraphs(item)...)
			}
		}
	}
	return out
}

var (
	// address matches an address, of which the host is spoken.
	address = regexp.MustCompile(`(?:https?://(?:www\.)?|www\.)([\pL\pN.-]*[\pL\pN])[^\s<>()\[\]，。；、.,;:!?]*` +
		`(?:[.,;:!?]+[^\s<>()\[\]，。；、.,;:!?]+)*`)
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
	words = address.ReplaceAllString(words, "$1")
	words = pictureWord.ReplaceAllString(notSpeech.Replace(words), "")
	words = emptyPair.ReplaceAllString(words, "")
	return beforeStop.ReplaceAllString(text.Line(words), "$1")
}

// said returns the paragraphs of a model's spoken text, without Markdown.
func said(written string) []string {
	return paragraphs(report.ParseWhole(strings.ToValidUTF8(written, "\uFFFD")))
}
