package config

// Serve governs the web pages.
type Serve struct {
	Listen    string // host:port; port 0: any that is free
	Token     Secret // that who uses the pages must have; empty: none, on this machine only
	ReadToken Secret // that lets only read; empty: there is none
}

// checkServe returns what is wrong with these settings taken together.
func checkServe(c Config) Problems {
	s, why := c.Serve, ""
	switch {
	case s.ReadToken == (Secret{}):
		return nil
	case s.Token == (Secret{}):
		why = "it needs serve.token: without that, whoever uses this machine may do everything"
	case s.Token == s.ReadToken:
		why = "it must be another one than serve.token: who has that may do everything"
	default:
		return nil
	}
	return Problems{{Key: "serve.read_token", Source: c.source("serve.read_token"), Reason: why}}
}
