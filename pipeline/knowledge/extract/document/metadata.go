package document

import (
	"cmp"
	"mime"
	"net/mail"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html/charset"

	"nightdesk/pipeline/text"
)

// Metadata holds what a document states about itself, in format metadata, front matter or header lines.
type Metadata struct {
	Title, Publisher string
	Date             string // as in Document
	Authors          []string
	OfFile           bool // a program wrote them into the file, so what the text states takes precedence

	subject, from, changed string // fallbacks for title, authors and date
	addressed              bool   // the document names a recipient
	letterhead             string // the short lines at the start of the text, which may only name the author
	below                  string // bold line directly below the first heading, which may itself be a letterhead
}

// fields maps the keys of front matter, reStructuredText and e-mail headers, and Dublin Core properties, to field
// names.
var fields = func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(`
title title titel titre título titolo 标题
subject subject re betreff objet asunto oggetto 主题 事由
author author authors creator autor autoren auteur auteurs autores autore verfasser 作者
publisher publisher publication institution organization organisation
publisher verlag herausgeber éditeur editorial 出版社 发布单位
date date createdate published publishdate pubdate datum fecha data sent gesendet envoyé enviado 日期 发布日期 发送时间
changed updated lastmod last_updated modified stand
from from von de da 发件人
to to an à para a 收件人
`) {
		if words := strings.Fields(line); len(words) > 0 {
			for _, key := range words[1:] {
				out[key] = words[0]
			}
		}
	}
	return out
}()

// Field records the value of a field. The first value wins, except that a document may have several authors.
func (s *Metadata) Field(key, value string) {
	value = Clean(Decoded(Clean(text.Start(value, maxValue))))
	switch fields[strings.ToLower(key)] {
	case "title":
		s.Title = cmp.Or(s.Title, value)
	case "subject":
		s.subject = cmp.Or(s.subject, value)
	case "author":
		s.AddAuthor(value)
	case "publisher":
		s.Publisher = cmp.Or(s.Publisher, value)
	case "date":
		s.Date = cmp.Or(s.Date, ParseDate(value))
	case "changed":
		s.changed = cmp.Or(s.changed, ParseDate(value))
	case "from":
		s.from = cmp.Or(s.from, value)
	case "to":
		s.addressed = true
	}
}

// Limits for Metadata metadata.
const (
	MaxNames = 10   // maximum number of authors
	maxValue = 1000 // maximum bytes of a value
)

// nextField matches the start of another field in the same line: Author: A. Holt. Checked: P. Dietz.
var nextField = regexp.MustCompile(`[.;·] +\pL[^.:;·]{0,30}: `)

// AddAuthor adds the people that a field names. Names are separated by semicolons, as word processors write them,
// because a comma may be part of a name.
func (s *Metadata) AddAuthor(value string) {
	if at := nextField.FindStringIndex(value); at != nil {
		value = value[:at[0]]
	}
	for name := range strings.SplitSeq(text.Start(value, maxValue), ";") {
		name = Person(Clean(name))
		if programAuthor.MatchString(name) {
			continue
		}
		if name != "" && len(s.Authors) < MaxNames && !strings.Contains(name, "://") && !slices.Contains(s.Authors, name) {
			s.Authors = append(s.Authors, name)
		}
	}
}

// programAuthor matches what programs write as the author: (anonymous), python-docx.
var programAuthor = regexp.MustCompile(
	`(?i)^(?:\(.*\)|python-(?:docx|pptx)|openpyxl|apache poi|microsoft office user|user|admin|unknown)$`)

// Person returns the name in "Ane Holt <ane@example.org>".
func Person(s string) string {
	if a, err := mail.ParseAddress(s); err == nil {
		if a.Name != "" {
			return a.Name
		}
		return a.Address
	}
	if name, _, ok := strings.Cut(s, "<"); ok && strings.TrimSpace(name) != "" {
		return strings.Trim(name, `" `)
	}
	return s
}

// Decoded decodes the encoded words of a field of an e-mail's head (RFC 2047).
func Decoded(s string) string {
	d := mime.WordDecoder{CharsetReader: charset.NewReaderLabel}
	if plain, err := d.DecodeHeader(s); err == nil {
		s = plain
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// settle fills missing fields with their fallbacks. A sender becomes the author only if there is a subject or a
// recipient, because timetables also have a From field.
func (s *Metadata) settle() {
	s.Title = cmp.Or(s.Title, s.subject)
	if len(s.Authors) == 0 && s.from != "" && (s.subject != "" || s.addressed) {
		s.AddAuthor(s.from)
	}
	s.Date = cmp.Or(s.Date, s.changed)
}

// Or fills missing fields of s from other.
func (s *Metadata) Or(other Metadata) {
	s.Title = cmp.Or(s.Title, other.Title)
	if len(s.Authors) == 0 {
		s.Authors = other.Authors
	}
	s.Publisher = cmp.Or(s.Publisher, other.Publisher)
	s.Date = cmp.Or(s.Date, other.Date)
	s.below = other.below
}

var (
	titlePrefix = regexp.MustCompile(
		`(?i)^(?:microsoft (?:word|powerpoint|excel)|powerpoint presentation|writer|impress)\s*[-–]\s*`)
	noTitle = regexp.MustCompile(`(?i)^(?:untitled.*|no title|title|titel|document\d*|dokument\d*|presentation\d*|` +
		`\(.*\)|slide \d+|powerpoint[- ]pr.sentation|\PL*)$`)
)

// FileTitle returns a cleaned metadata title, or "" for titles that programs generate, such as file names.
func FileTitle(t string) string {
	t = Clean(titlePrefix.ReplaceAllString(t, ""))
	switch strings.ToLower(path.Ext(t)) {
	case ".doc", ".docx", ".dvi", ".tex", ".ps", ".pdf", ".eps", ".odt", ".rtf", ".ppt", ".pptx", ".xls", ".xlsx", ".indd",
		".qxd", ".fm", ".html", ".htm", ".txt":
		return ""
	}
	if noTitle.MatchString(t) || len(t) > 300 || !strings.ContainsAny(t, " ") && strings.ContainsAny(t, "_/\\") {
		return ""
	}
	return t
}
