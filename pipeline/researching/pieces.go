package researching

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"nightdesk/pipeline/researching/recheck"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// cut splits the sources' texts into pieces of at most limit bytes, in order and without gaps.
func cut(sources []topicqueue.Source, limit int) []recheck.Part {
	whole := make([]recheck.Part, len(sources))
	for i, s := range sources {
		whole[i] = recheck.Part{Source: i, Text: s.Text}
	}
	return cutPieces(whole, limit)
}

func cutPieces(pieces []recheck.Part, limit int) []recheck.Part {
	var out []recheck.Part
	for _, p := range pieces {
		for len(p.Text) > limit {
			n := breakBefore(p.Text, limit)
			out = append(out, recheck.Part{Source: p.Source, At: p.At, Text: p.Text[:n]})
			p.Text, p.At = p.Text[n:], p.At+n
		}
		out = append(out, p)
	}
	return out
}

// breakBefore returns the position at which to split text, at most limit. It prefers the end of a paragraph, then of a
// line, sentence, word or rune. The part before is never empty, and at least half of limit if there is a choice.
func breakBefore(text string, limit int) int {
	for _, border := range []string{"\n\n", "\n", ". ", "。", " "} {
		if i := strings.LastIndex(text[:limit], border); i >= limit/2 {
			return i + len(border)
		}
	}
	for n := limit; n > max(0, limit-utf8.UTFMax); n-- {
		if utf8.RuneStart(text[n]) {
			return n
		}
	}
	return limit // not UTF-8, because no rune is that long
}

// pack groups pieces, in order, so that each group has at most limit bytes. A larger one is a group of its own.
func pack(pieces []recheck.Part, limit int) [][]recheck.Part {
	var groups [][]recheck.Part
	size := 0
	for _, p := range pieces {
		if len(groups) == 0 || size+len(p.Text) > limit {
			groups = append(groups, nil)
			size = 0
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], p)
		size += len(p.Text)
	}
	return groups
}

// mostRelevant keeps the parts of pieces that match question best (BM25), in order and up to limit bytes. If all pieces
// fit, it returns them unchanged.
func mostRelevant(pieces []recheck.Part, question string, limit int) []recheck.Part {
	total := 0
	for _, p := range pieces {
		total += len(p.Text)
	}
	if total <= limit {
		return pieces
	}
	parts := cutPieces(pieces, choiceBytes)
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	kept, _ := text.Select(question, texts, limit)
	out := make([]recheck.Part, len(kept))
	for n, i := range kept {
		out[n] = parts[i]
	}
	return out
}

// adjoined merges consecutive pieces of a source.
func adjoined(pieces []recheck.Part) []recheck.Part {
	var out []recheck.Part
	for _, p := range pieces {
		if n := len(out) - 1; n >= 0 && out[n].Source == p.Source && out[n].At+len(out[n].Text) == p.At {
			out[n].Text += p.Text
			continue
		}
		out = append(out, p)
	}
	return out
}

// documentOf identifies the document or page of a source. A source without either stands alone.
func documentOf(s topicqueue.Source) string { return cmp.Or(s.Document, s.URL, s.ID) }

// byDocument orders parts so that those of one document follow each other in its order. Documents keep their order.
func byDocument(sources []topicqueue.Source, parts []recheck.Part) []recheck.Part {
	first := map[string]int{}
	for _, p := range parts {
		if key := documentOf(sources[p.Source]); first[key] == 0 {
			first[key] = len(first) + 1
		}
	}
	return slices.SortedStableFunc(slices.Values(parts), func(a, b recheck.Part) int {
		s, t := sources[a.Source], sources[b.Source]
		return cmp.Or(first[documentOf(s)]-first[documentOf(t)], s.Offset+a.At-t.Offset-b.At)
	})
}

// documents groups adjacent parts of one document.
func documents(sources []topicqueue.Source, parts []recheck.Part) (groups [][]recheck.Part) {
	for i, p := range parts {
		if i == 0 || documentOf(sources[p.Source]) != documentOf(sources[parts[i-1].Source]) {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], p)
	}
	return groups
}

// document converts the parts of one document for a prompt. A place is shown where it differs from that of the part
// above.
func document(number int, sources []topicqueue.Source, parts []recheck.Part) prompts.SourceDocument {
	s := sources[parts[0].Source]
	d := prompts.SourceDocument{ID: strconv.Itoa(number), Title: topicqueue.OneLine(s.Title), By: s.By(), Date: s.Date,
		Head: s.HeadAt(parts[0].At)}
	last := ""
	for _, p := range parts {
		place := sources[p.Source].Place()
		shown := prompts.DocumentPart{Text: p.Text}
		if place != last {
			shown.Place = place
		}
		last = place
		d.Parts = append(d.Parts, shown)
	}
	return d
}
