package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/web"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
)

// serveGrace is how long a shutdown waits for responses in progress.
const serveGrace = 5 * time.Second

func serveCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve pages: this morning's digest, batches, runs, reports, queues, health",
		Long: `Serve pages until stopped: digests, batches, runs, reports, schedules, search, health, the queues in
asynqmon, the manual, the API under /v1/ and /metrics for Prometheus. "nightdesk help watching" lists them.

By default it listens on this machine only and needs no login. To listen on other addresses, set a
token (serve.token, NIGHTDESK_SERVE_TOKEN). Browsers ask for it once; programs send it as
Authorization: Bearer TOKEN. A second token (serve.read_token, NIGHTDESK_SERVE_READ_TOKEN) gives
read-only access.`,
		Args: cobra.NoArgs,
		RunE: p.serviceCommand(servicePages, servePages),
	}
	p.listenFlag(cmd)
	return cmd
}

func servePages(ctx context.Context, s *session, _ []string) error {
	return s.withDesk(ctx, desk.OpenUnchecked, func(d *desk.Desk) error {
		listener, err := listen(s.Config)
		if err != nil {
			return err
		}
		return serveDesk(ctx, s, d, listener)
	})
}

// serveDesk serves the web pages and the API until ctx ends.
func serveDesk(ctx context.Context, s *session, d *desk.Desk, listener net.Listener) (err error) {
	index := d.Index()
	index.Keep(ctx)
	defer func() { err = errors.Join(err, index.Close()) }()
	server := &http.Server{
		Handler: web.New(web.Services{
			Desk: d, Token: s.Config.Serve.Token.Reveal(), ReadToken: s.Config.Serve.ReadToken.Reveal(),
			Search: index.Search, Health: d.Checks().Look,
		}),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout:    2 * time.Minute,
		MaxHeaderBytes: 64 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	address := "http://" + listener.Addr().String() + "/"
	if err = s.Row(map[string]string{"url": address}, "%s\n", address); err == nil { // /healthz shows what it waits for
		err = wiring.AwaitUsable(ctx, s.Config, s.Console, d.Desk, d.Store)
	}
	if err == nil {
		d.Checks().WarnOfRedis(ctx)
		select {
		case err = <-ended:
			return fmt.Errorf("serve %s: %w", address, err)
		case <-ctx.Done():
		}
	}
	s.Log.Info().Msg("the pages are being closed")
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), serveGrace)
	defer cancel()
	if server.Shutdown(stopCtx) != nil { // requests are still in progress
		err = errors.Join(err, server.Close())
	}
	<-ended
	return err
}

// listen opens the port. It requires a token if other machines can reach the port.
func listen(cfg config.Config) (net.Listener, error) {
	listener, err := net.Listen("tcp", cfg.Serve.Listen)
	if err != nil {
		hint := "Choose another with --listen HOST:PORT or serve.listen."
		if errors.Is(err, syscall.EADDRINUSE) {
			hint = "Another program has this port; is it another `nightdesk serve`? " + hint
		}
		return nil, view.Usage(view.Hint(fmt.Errorf("listen on %s: %w", cfg.Serve.Listen, err), hint))
	}
	if tcp, ok := listener.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() && cfg.Serve.Token.Reveal() == "" {
		_ = listener.Close()
		return nil, view.Usage(view.Hint(fmt.Errorf("listen on %s: other machines can reach this address, and no "+
			"token is set",
			listener.Addr()), "Set NIGHTDESK_SERVE_TOKEN (serve.token) to a long random text, such as that of "+
			"`openssl rand -hex 20`; or listen on this machine only, with --listen 127.0.0.1:8080."))
	}
	return listener, nil
}
