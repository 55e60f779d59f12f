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

// Access is by two tokens: one for everything, one that only lets read. Programs send theirs as "Authorization:
// Bearer", people give it once and get a cookie, which is signed with it. Without a token everybody who reaches the
// port has access.

const (
	cookieName = "nightdesk"
	loginTime  = 30 * 24 * time.Hour
	guessPause = 500 * time.Millisecond // of a wrong token, one at a time
)

// open are the pages that need no token: whether the desk is there is asked by balancers and containers.
var open = []string{"/login", "/style.css", "/site.js", "/healthz", "/readyz"}

// role is what somebody may do.
type role int

const (
	stranger role = iota
	reader        // looks
	admin         // does everything
)

type roleKey struct{}

// roleOf returns the role of whoever has sent a request that was let through.
func roleOf(ctx context.Context) role {
	r, _ := ctx.Value(roleKey{}).(role)
	return r
}

// access guards the pages.
type access struct {
	token     string     // of an admin; empty: everybody is
	readToken string     // of a reader; empty: there is none
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
			refuse(w, r, http.StatusForbidden, "The token of serve.read_token only lets read. This needs that of serve.token.")
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

// as serves requests of somebody with this role.
func as(who role, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), roleKey{}, who)))
	})
}

// looks reports whether a request changes nothing but who is logged in.
func looks(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead || r.URL.Path == "/logout"
}

// local serves who asks for this machine by its address: pages of other sites can give a name of their own the address
// of this machine, and would then read and do what they like (DNS rebinding).
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
		refuse(w, r, http.StatusForbidden, "Without serve.token, these pages answer to localhost and to addresses such as "+
			"127.0.0.1 alone. Set serve.token to reach them by the name "+strconv.Quote(host)+".")
	})
}

// refuse answers a request that may not be made.
func refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	if strings.HasPrefix(r.URL.Path, "/v1/") {
		api.WriteProblem(w, &api.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: why})
		return
	}
	http.Error(w, why, status)
}

// role returns the role of whoever has a token, or a cookie that was made with it.
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

// holder returns the role that a token gives, in a time that says nothing about either.
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

// same compares tokens in a time that says nothing about them.
func same(given, own string) bool {
	x, y := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(own))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// signed is the value of a cookie that was given for a token.
func signed(token, until string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("nightdesk login until " + until))
	return until + "." + hex.EncodeToString(mac.Sum(nil))
}

// pause makes guessing slow, however many guess at a time.
func (a *access) pause(ctx context.Context) {
	a.wrong.Lock()
	defer a.wrong.Unlock()
	select {
	case <-ctx.Done():
	case <-time.After(guessPause):
	}
}

// login is the page that asks for the token.
func (s *site) login(_ context.Context, r *http.Request) (string, any, error) {
	return "Log in", map[string]bool{"Wrong": r.URL.Query().Has("wrong"), "Needed": s.access.token != ""}, nil
}

// enter takes the token from the page.
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

// leave takes the cookie away.
func (s *site) leave(w http.ResponseWriter, r *http.Request) {
	s.setCookie(w, r, "", -1)
	http.Redirect(w, r, "./login", http.StatusSeeOther)
}

func (s *site) setCookie(w http.ResponseWriter, r *http.Request, value string, seconds int) {
	secure := r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: secure})
}
