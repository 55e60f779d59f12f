package main_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// startHooks starts a receiver of webhooks with two addresses, to which nightdesk is pointed. It writes what comes to
// hooks.log, and to others.log.
func startHooks(ts *testscript.TestScript, _ bool, _ []string) {
	var mu sync.Mutex
	dir := ts.Getenv("WORK") // the script goes on setting its environment meanwhile
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("webhook-signature") == "" {
			http.Error(w, "no webhook", http.StatusBadRequest)
			return
		}
		log := map[bool]string{true: "others.log", false: "hooks.log"}[r.URL.Path == "/others"]
		f, err := os.OpenFile(filepath.Join(dir, log), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			http.Error(w, "no log", http.StatusInternalServerError)
			return
		}
		defer f.Close()
		fmt.Fprintf(f, "%s\n", body)
	}))
	ts.Defer(server.Close)
	ts.Setenv("NIGHTDESK_WEBHOOK_URL", server.URL+"/T0PSECRET,"+server.URL+"/others")
	ts.Setenv("NIGHTDESK_WEBHOOK_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
}

// waitDigest waits until a batch has its digest: digested BATCH.
func waitDigest(ts *testscript.TestScript, _ bool, args []string) {
	until(ts, "a digest of batch "+args[0], func() bool { return ts.Exec("nightdesk", "digest", args[0], "--path") == nil })
}
