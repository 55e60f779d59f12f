package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"

	"nightdesk/topicqueue"
)

// value is a field of a Config as text, with its type and check.
type value struct {
	kind    string // text, number, ...: for display
	unit    string // of a number
	allowed string // describes the values that set accepts
	set     func(text string) error
	reveal  func() string // set(reveal()) changes nothing
	show    func() string // reveal without secrets
	redact  func(text string) string
}

// plain returns a value without secrets.
func plain(kind, allowed string, set func(string) error, reveal func() string) value {
	return value{kind: kind, allowed: allowed, set: set, reveal: reveal, show: reveal,
		redact: func(text string) string { return text }}
}

// printable rejects control characters and invalid UTF-8, which would garble a log, a header or a path.
func printable(text string) error {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return errors.New("must not contain control characters or bytes that are not UTF-8")
	}
	return nil
}

func text(p *string, allowed string, check func(string) error) value {
	return plain("text", allowed, func(s string) error {
		if err := errors.Join(printable(s), check(s)); err != nil {
			return err
		}
		*p = s
		return nil
	}, func() string { return *p })
}

// maxUserInfo is the maximum length of user_info in bytes. It is part of every prompt.
const maxUserInfo = 4000

// maxWish is the maximum length of reporting.length and reporting.audience in bytes.
const maxWish = 200

// paragraph is a text whose lines are joined.
func paragraph(p *string, most int) value {
	allowed := fmt.Sprintf("a text of at most %d bytes; empty: none", most)
	return plain("text", allowed, func(s string) error {
		s = strings.Join(strings.Fields(s), " ")
		if err := printable(s); err != nil {
			return err
		}
		if len(s) > most {
			return fmt.Errorf("has %d bytes; give %s", len(s), allowed)
		}
		*p = s
		return nil
	}, func() string { return *p })
}

func anyText(string) error { return nil }

func someText(s string) error {
	if s == "" {
		return errors.New("must not be empty")
	}
	return nil
}

func languageTag(s string) error {
	if _, err := language.Parse(s); err != nil {
		return errors.New("must be a language tag such as en, zh or pt-BR")
	}
	return nil
}

// parsed is a value with a type of its own. parse reports whether a text is one of allowed.
func parsed[T any](p *T, kind, allowed string, parse func(string) (T, bool), format func(T) string) value {
	return plain(kind, allowed, func(s string) error {
		v, ok := parse(s)
		if !ok {
			return errors.New("must be " + allowed)
		}
		*p = v
		return nil
	}, func() string { return format(*p) })
}

func choice(p *string, options ...string) value {
	return parsed(p, "choice", "one of "+strings.Join(options, ", "),
		func(s string) (string, bool) { return s, slices.Contains(options, s) }, func(s string) string { return s })
}

func number(p *int, low, high int, unit string) value {
	v := parsed(p, "number", fmt.Sprintf("a whole number from %d to %d", low, high), func(s string) (int, bool) {
		n, err := strconv.Atoi(s)
		return n, err == nil && n >= low && n <= high
	}, strconv.Itoa)
	v.unit = unit
	return v
}

func decimal(p *float64, low, high float64) value {
	return parsed(p, "decimal", fmt.Sprintf("a number from %g to %g", low, high), func(s string) (float64, bool) {
		x, err := strconv.ParseFloat(s, 64)
		return x, err == nil && x >= low && x <= high // not NaN
	}, func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) })
}

func toggle(p *bool) value {
	return parsed(p, "switch", "true or false", func(s string) (bool, bool) {
		yes := slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(s))
		return yes, yes || slices.Contains([]string{"false", "no", "off", "0"}, strings.ToLower(s))
	}, strconv.FormatBool)
}

// duration accepts Go's notation (90s, 2m30s) and whole seconds without a unit, which are common in settings files.
func duration(p *time.Duration, low, high time.Duration) value {
	allowed := fmt.Sprintf("a duration from %s to %s, such as 90s or 2m", showDuration(low), showDuration(high))
	return parsed(p, "duration", allowed, func(s string) (time.Duration, bool) {
		if _, err := strconv.ParseInt(s, 10, 32); err == nil {
			s += "s"
		}
		d, err := time.ParseDuration(s)
		return d, err == nil && d >= low && d <= high
	}, showDuration)
}

// budget accepts the format of topicqueue.ParseBudget.
func budget(p *topicqueue.Budget) value {
	return parsed(p, "budget", topicqueue.BudgetAllowed, func(s string) (topicqueue.Budget, bool) {
		b, err := topicqueue.ParseBudget(s)
		return b, err == nil
	}, topicqueue.Budget.String)
}

func showDuration(d time.Duration) string {
	if d%time.Second == 0 {
		return strconv.FormatInt(int64(d/time.Second), 10) + "s"
	}
	return d.String()
}

func secret(p *Secret) value {
	return value{
		kind:    "secret",
		allowed: "any text",
		set: func(s string) error {
			if err := printable(s); err != nil {
				return err
			}
			*p = NewSecret(s)
			return nil
		},
		reveal: func() string { return p.Reveal() },
		show:   func() string { return p.String() },
		redact: func(s string) string { return NewSecret(s).String() },
	}
}

// address is a URL. check is not called for an empty one, and its error must not contain the address.
func address(p *URL, allowed string, check func(string) error) value {
	return value{
		kind:    "URL",
		allowed: allowed,
		set: func(s string) error {
			if err := printable(s); err != nil {
				return err
			}
			if s != "" {
				if err := check(s); err != nil {
					return err
				}
			}
			*p = NewURL(s)
			return nil
		},
		reveal: func() string { return p.Reveal() },
		show:   func() string { return p.String() },
		redact: func(refused string) string { return anyParam.ReplaceAllString(RedactURL(refused), redactedMarker) },
	}
}
