package web

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"nightdesk/cmd/nightdesk/web/api"
)

// Access uses two tokens: one for everything, one for reading only. Programs send a token as "Authorization: Bearer".
// Users enter it once and get a cookie signed with it. Without a token, everyone who can reach the port has access.

const (
	cookieName = "nightdesk"
	loginTime  = 30 * 24 * time.Hour
	guessPause = 500 * time.Millisecond // after a wrong token; pauses run one at a time
)

// open lists the paths that need no token. Load balancers and containers poll the health checks.
var open = []string{"/login", "/style.css", "/site.js", "/healthz", "/readyz"}

// role is the access level of a client.
type role int

const (
	stranger role = iota
	reader        // may read
	admin         // may do everything
)

type roleKey struct{}

// roleOf returns the client's role for an accepted request.
func roleOf(ctx context.Context) role {
	r, _ := ctx.Value(roleKey{}).(role)
	return r
}

// access controls who may use the pages.
type access struct {
	token     string     // of an admin; empty: every client is admin
	readToken string     // of a reader; empty: no read token
	wrong     sync.Mutex // held for a while after a wrong token
}

func (a *access) guard(next http.Handler) http.Handler {
	if a.token == "" {
		return local(as(admin, next))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := a.role(r)
		switch {
		case slices.Contains(open, r.URL.Path), who == admin, who == reader && looks(r):
			as(who, next).ServeHTTP(w, r)
		case who == reader:
			refuse(w, r, http.StatusForbidden, "serve.read_token allows reading only. Use the token of "+
				"serve.token for this.")
		case r.Header.Get("Authorization") != "":
			a.pause(r.Context())
			refuse(w, r, http.StatusUnauthorized, "The token is not that of serve.token.")
		case r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html"):
			up := "./" + strings.Repeat("../", strings.Count(r.URL.Path, "/")-1)
			http.Redirect(w, r, up+"login", http.StatusSeeOther)
		default:
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, r, http.StatusUnauthorized,
				"This page needs a token: send Authorization: Bearer and the value of serve.token.")
		}
	})
}

// as serves requests with the given role.
func as(who role, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), roleKey{}, who)))
	})
}

// looks reports whether a request is read-only or a logout.
func looks(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead || r.URL.Path == "/logout"
}

// local serves only requests addressed to localhost or to an IP address. Otherwise another site could point its own
// domain name at this machine and use the pages (DNS rebinding).
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		host = strings.ToLower(strings.Trim(host, "[]"))
		if host == "localhost" || net.ParseIP(host) != nil || slices.Contains(open, r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		refuse(w, r, http.StatusForbidden, "Without serve.token, these pages are served only for localhost and "+
			"IP addresses such as 127.0.0.1. Set serve.token to reach them by the name "+strconv.Quote(host)+".")
	})
}

// refuse rejects a request with the given status and reason.
func refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	if strings.HasPrefix(r.URL.Path, "/v1/") {
		api.WriteProblem(w, api.Refused(status, why, ""))
		return
	}
	http.Error(w, why, status)
}

// role returns the role that the request's token or cookie grants.
func (a *access) role(r *http.Request) role {
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return a.holder(bearer)
	}
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return stranger
	}
	until, _, _ := strings.Cut(cookie.Value, ".")
	if end, err := strconv.ParseInt(until, 10, 64); err != nil || time.Now().Unix() >= end {
		return stranger
	}
	switch {
	case hmac.Equal([]byte(cookie.Value), []byte(signed(a.token, until))):
		return admin
	case a.readToken != "" && hmac.Equal([]byte(cookie.Value), []byte(signed(a.readToken, until))):
		return reader
	}
	return stranger
}

// holder returns the role of a token, in constant time.
func (a *access) holder(token string) role {
	isAdmin, isReader := same(token, a.token), same(token, a.readToken)
	switch {
	case isAdmin:
		return admin
	case isReader && a.readToken != "":
		return reader
	}
	return stranger
}

// same compares tokens in constant time.
func same(given, own string) bool {
	x, y := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(own))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// signed returns the cookie value for a token.
func signed(token, until string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("nightdesk login until " + until))
	return until + "." + hex.EncodeToString(mac.Sum(nil))
}

// pause slows down guessing, regardless of the number of concurrent attempts.
func (a *access) pause(ctx context.Context) {
	a.wrong.Lock()
	defer a.wrong.Unlock()
	select {
	case <-ctx.Done():
	case <-time.After(guessPause):
	}
}

// login shows the login page.
func (s *site) login(_ context.Context, r *http.Request) (string, any, error) {
	return "Log in", map[string]bool{"Wrong": r.URL.Query().Has("wrong"), "Needed": s.access.token != ""}, nil
}

// enter handles the login form.
func (s *site) enter(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4096)
	token := r.PostFormValue("token")
	if s.access.holder(token) == stranger {
		s.access.pause(r.Context())
		http.Redirect(w, r, "./login?wrong", http.StatusSeeOther)
		return
	}
	until := strconv.FormatInt(time.Now().Add(loginTime).Unix(), 10)
	s.setCookie(w, r, signed(token, until), int(loginTime.Seconds()))
	http.Redirect(w, r, "./", http.StatusSeeOther)
}

// leave deletes the cookie.
func (s *site) leave(w http.ResponseWriter, r *http.Request) {
	s.setCookie(w, r, "", -1)
	http.Redirect(w, r, "./login", http.StatusSeeOther)
}

func (s *site) setCookie(w http.ResponseWriter, r *http.Request, value string, seconds int) {
	secure := r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: secure})
}
