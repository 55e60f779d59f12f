package extract

import (
	"errors"
	"regexp"
	"strings"
)

// Notices that replace a web page, with status 200.
var (
	ErrBlocked = errors.New("a check for human visitors")
	ErrSignIn  = errors.New("a form to sign in")
	ErrNoPage  = errors.New("a message that there is no such page")
	ErrAway    = errors.New("a message that the site is out of order")
	// ErrForwards: the address to use follows
	ErrForwards = errors.New("a page that only forwards to another address")
)

// check matches pages that first verify that the visitor is human.
var check = regexp.MustCompile(`(?i)captcha|verify (?:that )?you are (?:a )?human|checking your browser|` +
	`just a moment|enable javascript|access denied|unusual traffic|are you a robot`)

// noSuchPage matches titles of error pages that servers send with status 200 for missing pages.
var noSuchPage = regexp.MustCompile(`(?i)^(?:(?:error )?404\b|(?:sorry, )?(?:the |this )?page ` +
	`(?:(?:was |is |could |can )?not (?:be )?found|does not exist|doesn.t exist|no longer exists)\b|` +
	`not found$|seite (?:wurde )?nicht gefunden|页面不存在|找不到页面)`)

// secret matches a password field in a form.
var secret = regexp.MustCompile(`(?i)<input\b[^>]*\btype\s*=\s*["']?password\b`)

// outOfOrder matches pages of sites that are unavailable or under maintenance.
var outOfOrder = regexp.MustCompile(`(?i)\b(?:site|website|page|server|service|portal)s? (?:is|are) ` +
	`(?:currently |temporarily )?(?:down|offline|unavailable|under(?:going)?(?: scheduled)? maintenance)\b|` +
	`^(?:(?:scheduled |site )?maintenance|(?:site )?under maintenance|(?:503 )?service (?:temporarily )?unavailable|` +
	`wartungsarbeiten|系统维护)\W*$`)

// longestNotice is the maximum length of a notice, in bytes.
const longestNotice = 1500

// InItsPlace returns ErrBlocked, ErrNoPage, ErrAway or ErrSignIn if a notice replaces a web page, and nil otherwise.
// title and text were extracted from body, which is HTML.
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
