package api

import (
	"net/http"

	"golang.org/x/time/rate"
)

// rates limits the requests per second of all clients together.
type rates struct{ reading, changing *rate.Limiter }

// Rates per second, and burst sizes. They exceed what a user or a script needs, but do not overload Redis.
const (
	readRate, readBurst     = 500, 1000
	changeRate, changeBurst = 20, 100
)

func newRates() rates {
	return rates{rate.NewLimiter(readRate, readBurst), rate.NewLimiter(changeRate, changeBurst)}
}

// refuse returns a problem if the rate limit is exceeded.
func (l rates) refuse(w http.ResponseWriter, r *http.Request) *Problem {
	limiter := l.changing
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		limiter = l.reading
	}
	if limiter.Allow() {
		return nil
	}
	w.Header().Set("Retry-After", "1")
	return problem(http.StatusTooManyRequests,
		"Try again after the seconds of Retry-After; send many topics in one order.",
		"more than %.0f requests of this kind per second", float64(limiter.Limit()))
}
