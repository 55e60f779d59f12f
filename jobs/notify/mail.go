package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"net/url"
	"strings"
	"time"
)

// Mail sends digests through a mail server.
type Mail struct {
	host, port     string
	user, password string // empty: no login
	tlsFirst       bool   // smtps
	from           mail.Address
	to             []*mail.Address
	roots          *tls.Config // nil: the system's trusted authorities
}

// mailTime limits one attempt.
const mailTime = time.Minute

// NewMail returns a Mail that sends through server: smtp://[user:password@]host[:587], which must offer STARTTLS unless
// it is a local server, or smtps://[user:password@]host[:465]. to: comma-separated addresses. roots: trusted
// authorities; nil: the system's. The error does not contain the server's address.
func NewMail(server, from, to string, roots *tls.Config) (*Mail, error) {
	u, err := url.Parse(server)
	aServer := err == nil && (u.Scheme == "smtp" || u.Scheme == "smtps") && u.Hostname() != ""
	if !aServer || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, errors.New("mail.server must be smtp://user:password@host:587 or smtps://user:password@host:465")
	}
	m := &Mail{host: u.Hostname(), port: u.Port(), tlsFirst: u.Scheme == "smtps", user: u.User.Username(), roots: roots}
	m.password, _ = u.User.Password()
	switch {
	case m.port != "":
	case m.tlsFirst:
		m.port = "465"
	default:
		m.port = "587"
	}
	sender, err := mail.ParseAddress(from)
	if err != nil {
		return nil, fmt.Errorf("mail.from %q is not a mail address", from)
	}
	m.from = *sender
	if m.to, err = mail.ParseAddressList(to); err != nil {
		return nil, fmt.Errorf("mail.to %q must be comma-separated mail addresses", to)
	}
	return m, nil
}

// Message is one mail.
type Message struct {
	ID      string // stable, so that duplicates can be detected; only letters, digits and - _ .
	Subject string
	Text    []byte // UTF-8
	HTML    []byte // the same content as a page
	Date    time.Time
}

// Send tries once to send a message.
func (m *Mail) Send(ctx context.Context, msg Message) error {
	body, err := m.compose(msg)
	if err != nil {
		return err
	}
	return m.talk(ctx, func(c *smtp.Client) error {
		w, err := c.Data()
		if err != nil {
			return err
		}
		if _, err := w.Write(body); err != nil {
			return err
		}
		return w.Close()
	})
}

// Check asks the server whether it would accept mail from this sender to these receivers. It sends no mail.
func (m *Mail) Check(ctx context.Context) error {
	return m.talk(ctx, (*smtp.Client).Reset)
}

// Host returns the server name for messages.
func (m *Mail) Host() string { return net.JoinHostPort(m.host, m.port) }

// talk connects, and calls then after the server has accepted sender and receivers.
func (m *Mail) talk(ctx context.Context, then func(*smtp.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, mailTime)
	defer cancel()
	err := m.dial(ctx, then)
	if ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	if err != nil {
		return fmt.Errorf("send mail by %s: %w", m.Host(), m.hide(err))
	}
	return nil
}

// hide removes the password from an error of the server.
func (m *Mail) hide(err error) error {
	if m.password == "" || !strings.Contains(err.Error(), m.password) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), m.password, "[redacted]"))
}

func (m *Mail) dial(ctx context.Context, then func(*smtp.Client) error) error {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if m.roots != nil {
		config = m.roots.Clone()
	}
	config.ServerName = m.host
	dialer := net.Dialer{}
	raw, err := dialer.DialContext(ctx, "tcp", m.Host())
	if err != nil {
		return err
	}
	defer raw.Close()
	defer context.AfterFunc(ctx, func() { raw.Close() })() // unblocks pending reads and writes
	conn := raw
	if m.tlsFirst {
		conn = tls.Client(conn, config)
	}
	c, err := smtp.NewClient(conn, m.host)
	if err != nil {
		return err
	}
	defer c.Close()
	if offered, _ := c.Extension("STARTTLS"); offered && !m.tlsFirst {
		if err := c.StartTLS(config); err != nil {
			return fmt.Errorf("start TLS: %w", err)
		}
	} else if !m.tlsFirst && !m.local() {
		return errors.New("the server does not offer STARTTLS, and mail is never sent unencrypted: use smtps:// " +
			"or a server with STARTTLS")
	}
	if m.user != "" {
		if err := c.Auth(smtp.PlainAuth("", m.user, m.password, m.host)); err != nil {
			return fmt.Errorf("log in: %w", err)
		}
	}
	if err := c.Mail(m.from.Address); err != nil {
		return err
	}
	for _, to := range m.to {
		if err := c.Rcpt(to.Address); err != nil {
			return fmt.Errorf("to %s: %w", to.Address, err)
		}
	}
	if err := then(c); err != nil {
		return err
	}
	_ = c.Quit() // the message is already accepted
	return nil
}

// local reports whether the server is on this machine.
func (m *Mail) local() bool {
	ip := net.ParseIP(m.host)
	return m.host == "localhost" || ip != nil && ip.IsLoopback()
}

// compose encodes the message with its text and its page.
func (m *Mail) compose(msg Message) ([]byte, error) {
	var to []string
	for _, a := range m.to {
		to = append(to, a.String())
	}
	var out bytes.Buffer
	parts := multipart.NewWriter(&out)
	fmt.Fprintf(&out, "From: %s\r\nTo: %s\r\nSubject: %s\r\nDate: %s\r\nMessage-ID: <%s@%s>\r\n", m.from.String(),
		strings.Join(to, ", "),
		mime.QEncoding.Encode("utf-8", oneLine(msg.Subject)), msg.Date.UTC().Format(time.RFC1123Z), msg.ID,
		domain(m.from.Address))
	fmt.Fprintf(&out, "MIME-Version: 1.0\r\nAuto-Submitted: auto-generated\r\nContent-Type: multipart/alternative; "+
		"boundary=%s\r\n\r\n", parts.Boundary())
	for _, p := range []struct {
		kind string
		body []byte
	}{{"text/plain", msg.Text}, {"text/html", msg.HTML}} {
		w, err := parts.CreatePart(textproto.MIMEHeader{"Content-Type": {p.kind + "; charset=utf-8"},
			"Content-Transfer-Encoding": {"quoted-printable"}})
		if err != nil {
			return nil, err
		}
		q := quotedprintable.NewWriter(w)
		if _, err := q.Write(p.body); err != nil {
			return nil, err
		}
		if err := q.Close(); err != nil {
			return nil, err
		}
	}
	if err := parts.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// oneLine removes line breaks from a header value.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\r' || r == '\n' }), " ")
}

func domain(address string) string {
	_, host, _ := strings.Cut(address, "@")
	return host
}
