package extract_test

import (
	"errors"
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge/extract"
)

func multipartOf(kind, boundary string, parts ...string) string {
	return "Content-Type: multipart/" + kind + "; boundary=" + boundary + "\n\n--" + boundary + "\n" + strings.Join(parts, "\n--"+boundary+"\n") + "\n--" + boundary + "--\n"
}

const mailHead = "From: =?utf-8?B?SsO8cmdlbg==?= <j@x.example>\nSubject: =?iso-8859-1?Q?F=E4hre?=\nDate: Tue, 4 Feb 2025 23:00:00 +0100\nMIME-Version: 1.0\n"

func TestEmail(t *testing.T) {
	t.Parallel()
	plain := "Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\nDie F=E4hre kostet 9 Euro."
	page := "Content-Type: text/html; charset=windows-1251\n\n<p>\xcf\xf0\xe8\xe2\xe5\xf2, 10<sup>6</sup> N kosten 9 Euro.</p>"
	table := "Content-Type: application/octet-stream\nContent-Disposition: attachment; filename*=utf-8''f%C3%A4hre.csv\nContent-Transfer-Encoding: base64\n\ncG9ydCxmYXJlCkVtbG9hayw5Cg=="
	picture := "Content-Type: image/png; name=\"a.png\"\nContent-ID: <1>\n\nx"
	archive := "Content-Type: application/zip; name=\"all.zip\"\nContent-Disposition: attachment\n\nPK"
	inMail := "Content-Type: message/rfc822\n\nFrom: a@b.example\nTo: c@d.example\nSubject: Inner\n\nThe inner text."
	for name, tc := range map[string]struct{ body, want string }{
		"plain":                   {plain, "Die Fähre kostet 9 Euro."},
		"without a type":          {"\nThe price is 9.", "The price is 9."},
		"page before text":        {multipartOf("alternative", "b", plain, page), "Привет, 10^6 N kosten 9 Euro."},
		"a page that says little": {multipartOf("alternative", "b", plain, "Content-Type: text/html\n\n<p>Hi</p>"), "Die Fähre kostet 9 Euro."},
		"a page with pictures":    {multipartOf("alternative", "b", plain, multipartOf("related", "c", page, picture)), "Привет, 10^6 N kosten 9 Euro."},
		"attachments":             {multipartOf("mixed", "b", plain, table, picture, archive), "Die Fähre kostet 9 Euro.\n\n| port | fare |\n| Emloak | 9 |\n\nAttachment: all.zip"},
		"an e-mail in it":         {multipartOf("mixed", "b", plain, inMail), "Die Fähre kostet 9 Euro.\n\nFrom: a@b.example; To: c@d.example\n\nThe inner text."},
		"cut off":                 {strings.TrimSuffix(multipartOf("mixed", "b", plain), "Euro.\n--b--\n"), "Die Fähre kost"},
	} {
		doc, err := extract.File(t.Context(), "a.eml", []byte(mailHead+tc.body))
		_, text, _ := strings.Cut(doc.Text, "\n\n")
		if err != nil || !strings.HasPrefix(text, tc.want[:12]) || name != "cut off" && text != tc.want {
			t.Errorf("%s: %v, got:\n%s\nwant:\n%s", name, err, doc.Text, tc.want)
		}
		if doc.Title != "Fähre" || doc.Date != "2025-02-04" || len(doc.Authors) != 1 || doc.Authors[0] != "Jürgen" {
			t.Errorf("%s: %q, %q, %q", name, doc.Title, doc.Date, doc.Authors)
		}
		check(t, doc)
	}
	saved := "From: <Saved by Blink>\nSubject: The fares\n" + multipartOf("related", "b", page, "Content-Type: text/css\n\np{}")
	doc, err := extract.File(t.Context(), "a.mhtml", []byte(saved))
	if err != nil || doc.Text != "Привет, 10^6 N kosten 9 Euro." || len(doc.Authors) > 0 {
		t.Errorf("%v %+v", err, doc)
	}
	deep := strings.Repeat("Content-Type: multipart/mixed; boundary=b\n\n--b\n", 5000)
	if _, err := extract.File(t.Context(), "a.eml", []byte(deep+plain)); !errors.Is(err, extract.ErrEmpty) {
		t.Error(err)
	}
}

func FuzzEmail(f *testing.F) {
	f.Add(mailHead + multipartOf("alternative", "b", "Content-Type: text/plain\n\nx", "Content-Type: text/html\n\n<p>x"))
	f.Fuzz(func(t *testing.T, text string) {
		if doc, err := extract.File(t.Context(), "a.eml", []byte(text)); err == nil {
			check(t, doc)
		}
	})
}
