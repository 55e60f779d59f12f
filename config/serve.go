package config

// Serve configures the web pages.
type Serve struct {
	Listen    string // host:port; port 0: any free port
	Token     Secret // required for full access; empty: no token, this machine only
	ReadToken Secret // allows only reading; empty: no such token
}

// checkServe checks the combination of these settings.
func checkServe(c Config) Problems {
	s, why := c.Serve, ""
	switch {
	case s.ReadToken == (Secret{}):
		return nil
	case s.Token == (Secret{}):
		why = "it needs serve.token: without it, everyone on this machine has full access"
	case s.Token == s.ReadToken:
		why = "it must differ from serve.token, which gives full access"
	default:
		return nil
	}
	return Problems{{Key: "serve.read_token", Source: c.source("serve.read_token"), Reason: why}}
}
