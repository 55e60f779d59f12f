package narration

import (
	"fmt"
	"html"
	"strings"
	"time"

	"nightdesk/pipeline/text"
)

// Cue is a piece of a recording with its times.
type Cue struct {
	Start, End time.Duration
	Speaker    string // A or B; empty if there is one voice
	Text       string
}

// cueMarks escapes the special characters of a cue's text.
var cueMarks = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Transcript returns the text of a recording with times, as WebVTT. With two voices, each cue names its voice.
func Transcript(title string, cues []Cue) []byte {
	var b strings.Builder
	b.WriteString("WEBVTT\n")
	if title = text.Line(title); title != "" {
		fmt.Fprintf(&b, "\nNOTE %s\n", strings.ReplaceAll(title, "-->", "→"))
	}
	for _, c := range cues {
		fmt.Fprintf(&b, "\n%s --> %s\n", stamp(c.Start), stamp(c.End))
		if c.Speaker != "" {
			fmt.Fprintf(&b, "<v %s>", c.Speaker)
		}
		b.WriteString(cueMarks.Replace(text.Line(c.Text)) + "\n")
	}
	return []byte(b.String())
}

// stamp formats a time for WebVTT: 00:01:02.345.
func stamp(d time.Duration) string {
	ms := d.Round(time.Millisecond).Milliseconds()
	return fmt.Sprintf("%02d:%02d:%02d.%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, ms%1000)
}

// ReadTranscript parses the cues of a transcript and ignores everything else.
func ReadTranscript(vtt []byte) (cues []Cue) {
	var open *Cue
	for line := range strings.Lines(string(vtt)) {
		line = strings.TrimRight(line, "\r\n")
		from, to, times := strings.Cut(line, " --> ")
		switch {
		case times:
			cues = append(cues, Cue{Start: moment(from), End: moment(to)})
			open = &cues[len(cues)-1]
		case line == "" || open == nil:
			open = nil
		default:
			if named, ok := strings.CutPrefix(line, "<v "); ok {
				open.Speaker, line, _ = strings.Cut(named, ">")
			}
			open.Text = strings.TrimSpace(open.Text + " " + html.UnescapeString(line))
		}
	}
	return cues
}

// moment parses a time written by stamp; 0 for anything else.
func moment(stamp string) time.Duration {
	var h, m, s, ms int
	if _, err := fmt.Sscanf(stamp, "%d:%d:%d.%d", &h, &m, &s, &ms); err != nil {
		return 0
	}
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second +
		time.Duration(ms)*time.Millisecond
}
