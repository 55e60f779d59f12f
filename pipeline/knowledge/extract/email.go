package extract

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"strings"

	"nightdesk/pipeline/knowledge/extract/document"
	"nightdesk/pipeline/knowledge/extract/office"
)

// Limits of an e-mail: nested multiparts, and parts of all of them.
const (
	maxMultiparts = 10
	maxMailParts  = 500
)

// email extracts an e-mail or a saved page (MHTML). Its head becomes title, author and date, and the first lines of the
// text. inner reads its parts; attachments that it cannot read are named.
func email(data []byte, inner office.Inner) (Document, error) {
	m, err := mail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		return Document{}, fmt.Errorf("%w (%w)", ErrDamaged, err)
	}
	w := &mailWriter{b: document.NewBuilder(), inner: inner}
	header := func(name string) string { return document.Clean(document.Decoded(m.Header.Get(name))) }
	said := document.Metadata{Title: header("Subject"), Date: document.ParseDate(header("Date"))}
	if at, err := m.Header.Date(); err == nil {
		said.Date = at.Format("2006-01-02")
	}
	if saved := strings.HasPrefix(header("Content-Type"), "multipart/related") && header("To") == ""; !saved {
		var head []string
		for _, name := range []string{"From", "To", "Cc", "Date"} {
			if value := header(name); value != "" {
				head = append(head, name+": "+value)
			}
		}
		w.b.Paragraph(strings.Join(head, "; "))
		said.AddAuthor(header("From"))
	}
	w.part(textproto.MIMEHeader(m.Header), m.Body, 0)
	if w.read == 0 {
		return Document{}, cmp.Or(w.err, ErrEmpty)
	}
	return w.b.Document(said), nil
}

// mailWriter writes the parts of an e-mail.
type mailWriter struct {
	b     *document.Builder
	inner office.Inner
	parts int
	read  int   // parts that were read
	err   error // of the first part that was not
}

// part writes a part with the parts in it.
func (w *mailWriter) part(header textproto.MIMEHeader, body io.Reader, depth int) {
	if w.parts++; w.parts > maxMailParts {
		return
	}
	contentType := cmp.Or(header.Get("Content-Type"), "text/plain")
	media, parameters, err := mime.ParseMediaType(contentType)
	if err != nil {
		media = "text/plain"
	}
	if boundary := parameters["boundary"]; strings.HasPrefix(media, "multipart/") && boundary != "" {
		w.multipart(media, multipart.NewReader(body, boundary), depth+1)
		return
	}
	data := partData(header, body)
	disposition, named, _ := mime.ParseMediaType(header.Get("Content-Disposition"))
	name := document.Clean(document.Decoded(cmp.Or(named["filename"], parameters["name"])))
	doc, err := w.document(name, contentType, data)
	switch {
	case disposition == "attachment" || name != "" && !strings.HasPrefix(media, "image/"):
		w.b.Heading(2, cmp.Or(name, doc.Title, media), "")
		if err != nil {
			w.b.Paragraph("Attachment: " + cmp.Or(name, media))
		}
		w.append(doc, err, 3)
	case err == nil || strings.HasPrefix(media, "text/"):
		w.append(doc, err, 2)
	}
}

// document reads a part. A file whose type is not that of its name is read by its name.
func (w *mailWriter) document(name, contentType string, data []byte) (Document, error) {
	doc, err := w.inner(name, contentType, data)
	if err != nil && name != "" {
		doc, err = w.inner(name, "", data)
	}
	return doc, err
}

func (w *mailWriter) append(doc Document, err error, level int) {
	if err != nil {
		w.err = cmp.Or(w.err, err)
		return
	}
	w.read++
	w.b.Append(doc, level)
}

// multipart writes the parts of a multipart. Of alternatives it writes the page, unless the text says much more.
func (w *mailWriter) multipart(media string, r *multipart.Reader, depth int) {
	best := Document{}
	for n := 0; depth <= maxMultiparts && w.parts < maxMailParts; n++ {
		p, err := r.NextRawPart()
		if err != nil {
			break
		}
		switch {
		case media == "multipart/alternative":
			alone := &mailWriter{b: document.NewBuilder(), inner: w.inner, parts: w.parts}
			alone.part(p.Header, p, depth)
			w.parts = alone.parts
			if doc := alone.b.Document(document.Metadata{}); len(doc.Text)*2 >= len(best.Text) {
				best = doc
			}
		case media == "multipart/related" && n > 0 && p.Header.Get("Content-Disposition") == "": // pictures and styles
		default:
			w.part(p.Header, p, depth)
		}
	}
	if best.Text != "" {
		w.append(best, nil, 2)
	}
}

// partData decodes the content of a part. Damaged content yields what precedes the damage.
func partData(header textproto.MIMEHeader, body io.Reader) []byte {
	switch strings.ToLower(strings.TrimSpace(header.Get("Content-Transfer-Encoding"))) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	data, _ := io.ReadAll(body)
	return data
}
