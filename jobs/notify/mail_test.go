package notify_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http/httptest"
	"net/mail"
	"slices"
	"strings"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"nightdesk/jobs/notify"
)

// mailbox is a mail server that keeps received mails.
type mailbox struct {
	got chan letter
}

type letter struct {
	from string
	to   []string
	data []byte
	auth string
}

func (m *mailbox) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{box: m}, nil }

type session struct {
	box *mailbox
	letter
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if password != "pass:word" {
			return errors.New("you said " + password)
		}
		s.auth = user
		return nil
	}), nil
}
func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from = from
	return nil
}
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if strings.HasPrefix(to, "nobody@") {
		return errors.New("no such mailbox")
	}
	s.to = append(s.to, to)
	return nil
}
func (s *session) Data(r io.Reader) (err error) {
	s.data, err = io.ReadAll(r)
	s.box.got <- s.letter
	return err
}

// startMail starts a mail server: with TLS from the start, by STARTTLS, or without.
func startMail(t *testing.T, scheme string) (address string, box *mailbox, roots *tls.Config) {
	t.Helper()
	certified := httptest.NewUnstartedServer(nil)
	certified.StartTLS() // for its certificate of 127.0.0.1
	t.Cleanup(certified.Close)
	pool := x509.NewCertPool()
	pool.AddCert(certified.Certificate())
	box = &mailbox{got: make(chan letter, 4)}
	server := smtp.NewServer(box)
	server.Domain, server.AllowInsecureAuth = "localhost", scheme == "clear"
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = "smtp://"
	config := &tls.Config{Certificates: certified.TLS.Certificates}
	switch scheme {
	case "smtps":
		listener, address = tls.NewListener(listener, config), "smtps://"
	case "starttls":
		server.TLSConfig = config
	}
	done := make(chan struct{})
	go func() { _ = server.Serve(listener); close(done) }()
	t.Cleanup(func() { server.Close(); <-done })
	return address + "desk:pass%3Aword@" + listener.Addr().String(), box, &tls.Config{RootCAs: pool}
}

var message = notify.Message{
	ID: "digest.night.3", Subject: "Digest of night: 2 failed\r\nBcc: x@example.org",
	Text: []byte("# Digest\n\n" + strings.Repeat("Grüße ", 300) + "\n.\nafter the dot"), HTML: []byte("<h1>Digest</h1>"), Date: noon,
}

func TestMail(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"smtps", "starttls", "clear"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			address, box, roots := startMail(t, scheme)
			m, err := notify.NewMail(address, "Nightdesk <desk@example.org>", "a@example.org, Bea <b@example.org>", roots)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Check(t.Context()); err != nil || len(box.got) > 0 {
				t.Fatalf("checked: %v; %d mails were sent", err, len(box.got))
			}
			if err := m.Send(t.Context(), message); err != nil {
				t.Fatal(err)
			}
			got := <-box.got
			if got.from != "desk@example.org" || !slices.Equal(got.to, []string{"a@example.org", "b@example.org"}) || got.auth != "desk" {
				t.Errorf("from %s to %v by %s", got.from, got.to, got.auth)
			}
			read, err := mail.ReadMessage(bytes.NewReader(got.data))
			if err != nil {
				t.Fatal(err)
			}
			h := read.Header
			if h.Get("Message-ID") != "<digest.night.3@example.org>" || h.Get("Bcc") != "" || h.Get("Date") != "Sun, 01 Mar 2026 12:00:00 +0000" ||
				!strings.HasPrefix(h.Get("Subject"), "Digest of night: 2 failed") {
				t.Errorf("header %v", h)
			}
			_, parameters, err := mime.ParseMediaType(h.Get("Content-Type"))
			if err != nil {
				t.Fatal(err)
			}
			parts := multipart.NewReader(read.Body, parameters["boundary"])
			for _, want := range [][]byte{message.Text, message.HTML} {
				p, err := parts.NextPart() // unpacks quoted-printable
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(p)
				if err != nil || strings.ReplaceAll(string(body), "\r\n", "\n") != string(want) {
					t.Errorf("%s: %q, %v", p.Header.Get("Content-Type"), body, err)
				}
			}
		})
	}
}

func TestMailIsRefused(t *testing.T) {
	t.Parallel()
	address, box, roots := startMail(t, "starttls")
	for name, c := range map[string]struct {
		server, to string
		roots      *tls.Config
		want       string
	}{
		"unknown authority": {address, "a@example.org", nil, "certificate"},
		"wrong password":    {strings.Replace(address, "word", "0000", 1), "a@example.org", roots, "log in"},
		"no such mailbox":   {address, "a@example.org, nobody@example.org", roots, "to nobody@example.org"},
	} {
		m, err := notify.NewMail(c.server, "desk@example.org", c.to, c.roots)
		if err != nil {
			t.Fatal(err)
		}
		for doing, err := range map[string]error{"check": m.Check(t.Context()), "send": m.Send(t.Context(), message)} {
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "pass:") {
				t.Errorf("%s: %s: %v", name, doing, err)
			}
		}
	}
	if len(box.got) > 0 {
		t.Errorf("the server took %d mails", len(box.got))
	}
	for name, c := range map[string][3]string{
		"scheme": {"http://user:T0P@host", "a@example.org", "b@example.org"},
		"query":  {"smtp://host?x=T0P", "a@example.org", "b@example.org"},
		"from":   {"smtp://host", "nobody", "b@example.org"},
		"to":     {"smtp://host", "a@example.org", "b@example.org; c"},
	} {
		if _, err := notify.NewMail(c[0], c[1], c[2], nil); err == nil || strings.Contains(err.Error(), "T0P") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
