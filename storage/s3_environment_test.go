package storage_test

import (
	"bytes"
	"encoding/pem"
	"io"
	"log"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"nightdesk/storage"
	"nightdesk/storage/storagetest"
)

var quiet = log.New(io.Discard, "", 0)

// bare removes all sources of credentials from the environment.
func bare(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "none")
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "", "AWS_REGION": "",
		"AWS_CONFIG_FILE": nowhere, "AWS_SHARED_CREDENTIALS_FILE": nowhere, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
}

func TestS3CredentialsOfTheEnvironment(t *testing.T) {
	server := storagetest.Versitygw(t)
	bare(t)
	anonymous := server
	anonymous.AccessKey, anonymous.SecretKey = "", ""
	s := hasty(t, anonymous)
	wantError(t, storage.Check(t.Context(), s), server, "no usable credentials", "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")

	t.Setenv("AWS_ACCESS_KEY_ID", server.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", server.SecretKey)
	if err := storage.Check(t.Context(), hasty(t, anonymous)); err != nil {
		t.Error(err)
	}
}

// TestS3OverTLS: the CA bundle of the environment is used, and objects contain only the body.
func TestS3OverTLS(t *testing.T) {
	plain := storagetest.FakeS3(t)
	target, err := url.Parse(plain.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(target))
	t.Cleanup(server.Close)
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(bundle, cert, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_CA_BUNDLE", bundle)
	settings := plain
	settings.Endpoint = server.URL
	s := hasty(t, settings)
	for name, body := range map[string][]byte{"short": []byte("x"), "long": long} {
		if err := s.Put(t.Context(), name, body); err != nil {
			t.Fatal(err)
		}
		if got, err := hasty(t, plain).Get(t.Context(), name); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%s: %d bytes are stored, %v; want %d", name, len(got), err, len(body))
		}
	}
}
