package extract

import (
	"errors"
	"regexp"
	"strings"
)

// What stands in the place of a page of the web, with status 200.
var (
	ErrBlocked = errors.New("a check for human visitors")
	ErrSignIn  = errors.New("a form to sign in")
	ErrNoPage  = errors.New("a message that there is no such page")
	ErrAway    = errors.New("a message that the site is out of order")
)

// check are words of pages that want to see a human being first.
var check = regexp.MustCompile(`(?i)captcha|verify (?:that )?you are (?:a )?human|checking your browser|just a moment|enable javascript|access denied|unusual traffic|are you a robot`)

// noSuchPage are titles of what servers send with status 200 for pages that they do not have.
var noSuchPage = regexp.MustCompile(`(?i)^(?:(?:error )?404\b|(?:sorry, )?(?:the |this )?page (?:(?:was |is |could |can )?not (?:be )?found|does not exist|doesn.t exist|no longer exists)\b|not found$|seite (?:wurde )?nicht gefunden|页面不存在|找不到页面)`)

// secret is the field of a form that asks for a password.
var secret = regexp.MustCompile(`(?i)<input\b[^>]*\btype\s*=\s*["']?password\b`)

// outOfOrder are words of sites that are being worked on.
var outOfOrder = regexp.MustCompile(`(?i)\b(?:site|website|page|server|service|portal)s? (?:is|are) (?:currently |temporarily )?(?:down|offline|unavailable|under(?:going)?(?: scheduled)? maintenance)\b|^(?:(?:scheduled |site )?maintenance|(?:site )?under maintenance|(?:503 )?service (?:temporarily )?unavailable|wartungsarbeiten|系统维护)\W*$`)

// longestNotice is the length, in bytes, of the longest text of a page that says why another one is not shown.
const longestNotice = 1500

// InItsPlace returns ErrBlocked, ErrNoPage, ErrAway or ErrSignIn when a notice stands in the place of a page of the
// web, nil when it is the page. title, text: what was extracted of body, which is HTML.
func InItsPlace(title, text string, body []byte) error {
	switch {
	case len(text) >= longestNotice:
		return nil
	case check.MatchString(title + "\n" + text):
		return ErrBlocked
	case noSuchPage.MatchString(strings.TrimSpace(title)):
		return ErrNoPage
	case outOfOrder.MatchString(text) || outOfOrder.MatchString(strings.TrimSpace(title)):
		return ErrAway
	case secret.Match(body):
		return ErrSignIn
	}
	return nil
}
