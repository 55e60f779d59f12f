package api

import (
	"net/http"

	"golang.org/x/time/rate"
)

// rates bound what all clients together ask for in a second.
type rates struct{ reading, changing *rate.Limiter }

// Requests in a second, and at once after a pause: more than a person or a script needs, less than what keeps Redis
// from its work.
const (
	readRate, readBurst     = 500, 1000
	changeRate, changeBurst = 20, 100
)

func newRates() rates {
	return rates{rate.NewLimiter(readRate, readBurst), rate.NewLimiter(changeRate, changeBurst)}
}

// refuse returns a problem when a request comes too soon.
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
