package main_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/cmd/nightdesk/benchtest"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// newDeskAt returns the program with a knowledge base, no model and this Redis.
func newDeskAt(t *testing.T, redisURL string, env ...string) *fleet {
	t.Helper()
	f := &fleet{t: t, dir: t.TempDir()}
	f.program = link(t, f.dir)
	f.env = append(os.Environ(), "REDIS_URL="+redisURL, "LLM_MODEL=", "NIGHTDESK_LOG_LEVEL=error")
	f.writeDocuments()
	f.output("kb", "add", "--name", "docs", "docs")
	f.env = append(f.env, env...)
	return f
}

// fails runs a command that must end with this exit code, and returns everything it printed.
func (f *fleet) fails(code int, args ...string) string {
	f.t.Helper()
	out, err := f.command(args...).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != code {
		f.t.Errorf("nightdesk %s: %v, want exit code %d\n%s", strings.Join(args, " "), err, code, out)
	}
	return string(out)
}

// enqueueParts puts topics into the batch "fleet" that the knowledge base alone can answer, without a model.
func (f *fleet) enqueueParts(n int, args ...string) {
	f.t.Helper()
	var topics strings.Builder
	for i := range n {
		other := benchtest.Subjects[(i+1+i/16)%16]
		fmt.Fprintf(&topics, "How does the harbour inspect its %s and %s?\n", benchtest.Subjects[i%16], other)
	}
	if err := writeFile(filepath.Join(f.dir, "topics.txt"), topics.String()); err != nil {
		f.t.Fatal(err)
	}
	f.output(append([]string{"enqueue", "topics.txt", "--batch", "fleet", "--kb", "docs"}, args...)...)
}

// works takes topics from enqueue to report.
func (f *fleet) works(topics int) {
	f.t.Helper()
	f.enqueueParts(topics, "--preset", "quick")
	w := f.worker(4)
	f.checkReports(topics, f.wait(topics))
	f.stop(w)
}

// TestRedisWithTLSAndACL works on a server that speaks TLS with a certificate of a private authority and knows a user
// that may do as little as those of managed servers.
func TestRedisWithTLSAndACL(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca, cert, key := makeCertificate(t, dir)
	server := redistest.Start(t, "--port", "0", "--tls-port", "PORT", "--tls-cert-file", cert, "--tls-key-file", key,
		"--tls-ca-cert-file", ca, "--tls-auth-clients", "no", "--save", "", "--appendonly", "no",
		"--user", "default", "off", "--user", "desk", "on", ">canary@1", "~*", "&*", "+@all", "-@admin", "-@dangerous")
	address := "rediss://desk:canary%401@localhost:" + server.Port + "/1"
	f := newDeskAt(t, address, "SSL_CERT_FILE="+ca)
	if out := f.output("doctor", "--json"); !strings.Contains(out, "maxmemory-policy") || strings.Contains(out, "canary") {
		t.Errorf("doctor:\n%s", out)
	}
	f.works(2)
	if body := f.serve().get("metrics", 200); !strings.Contains(body, `nightdesk_runs_ended_total{state="completed"} 2`) {
		t.Errorf("metrics:\n%s", body)
	}

	for _, wrong := range []struct{ env, want string }{
		{"SSL_CERT_FILE=", "SSL_CERT_DIR"},
		{"REDIS_URL=" + strings.Replace(address, "%401", "", 1), "Correct user and password"},
		{"REDIS_URL=" + strings.Replace(address, "localhost", "127.0.0.2", 1), "host name that stands in the certificate"},
		{"REDIS_URL=" + strings.Replace(address, "rediss", "redis", 1), "does not answer"},
	} {
		env := f.env
		f.env = append(f.env, wrong.env)
		out, err := f.command("list").CombinedOutput()
		if err == nil || !strings.Contains(string(out), wrong.want) || strings.Contains(string(out), "canary") {
			t.Errorf("%s: %v, want %q\n%s", wrong.env, err, wrong.want, out)
		}
		f.env = env
	}
}

// A Redis that reads its data back after a start is there: one has to wait, not to start another.
func TestRedisThatIsLoading(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			go func() {
				defer conn.Close()
				for buffer := make([]byte, 4096); ; {
					n, err := conn.Read(buffer)
					if err != nil {
						return
					}
					for range bytes.Count(buffer[:n], []byte("*")) { // commands
						if _, err := conn.Write([]byte("-LOADING Redis is loading the dataset in memory\r\n")); err != nil {
							return
						}
					}
				}
			}()
		}
	}()
	f := newDeskAt(t, "redis://"+listener.Addr().String())
	if out := f.fails(1, "list"); !strings.Contains(out, "LOADING") || strings.Contains(out, "REDIS_URL") {
		t.Errorf("list:\n%s", out)
	}
}

// makeCertificate makes an authority and a certificate of it for localhost, and returns their files.
func makeCertificate(t *testing.T, dir string) (ca, cert, key string) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		check(os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	authority := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of a test"}, IsCA: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, authority, authority, caKey.Public(), caKey)
	check(err)
	ca = write("ca.pem", "CERTIFICATE", der)
	serverKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	server := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err = x509.CreateCertificate(rand.Reader, server, authority, serverKey.Public(), caKey)
	check(err)
	cert = write("cert.pem", "CERTIFICATE", der)
	der, err = x509.MarshalPKCS8PrivateKey(serverKey)
	check(err)
	return ca, cert, write("key.pem", "PRIVATE KEY", der)
}

// TestRedisWithSentinels kills the master in the middle of a batch: the desk goes on with the replica.
func TestRedisWithSentinels(t *testing.T) {
	scaletest.Processes(t)
	t.Parallel()
	plain := []string{"--port", "PORT", "--save", "", "--appendonly", "no", "--requirepass", "data", "--masterauth", "data", "--repl-diskless-sync-delay", "0"}
	master := redistest.Start(t, plain...)
	replica := redistest.Start(t, append(plain, "--replicaof", "127.0.0.1", master.Port)...)
	var hosts []string
	for range 3 {
		file := filepath.Join(t.TempDir(), "sentinel.conf") // sentinels write what they learn into it
		if err := writeFile(file, fmt.Sprintf("sentinel monitor desk 127.0.0.1 %s 2\nsentinel auth-pass desk data\nsentinel down-after-milliseconds desk 1000\n"+
			"sentinel failover-timeout desk 5000\nrequirepass guard\nsentinel sentinel-pass guard\n", master.Port)); err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, redistest.Start(t, file, "--sentinel", "--port", "PORT").Addr())
	}
	address := "redis-sentinel://:data@" + strings.Join(hosts, ",") + "/desk?sentinel_password="
	f := newDeskAt(t, address+"guard")
	if out := f.output("doctor"); strings.Contains(out, "guard") {
		t.Errorf("doctor shows a password:\n%s", out)
	}
	sentinel := redis.NewSentinelClient(&redis.Options{Addr: hosts[0], Password: "guard"})
	defer sentinel.Close()
	until(t, "the sentinels know each other and the replica", func() bool {
		others, _ := sentinel.Sentinels(t.Context(), "desk").Result()
		replicas, _ := sentinel.Replicas(t.Context(), "desk").Result()
		return len(others) == 2 && len(replicas) == 1 && replicas[0]["master-link-status"] == "ok"
	})

	const topics = 8
	f.enqueueParts(topics, "--preset", "medium")
	w := f.worker(2)
	until(t, "one report", func() bool {
		reports, _ := filepath.Glob(filepath.Join(f.dir, "nightdesk-data", "reports", "*.md"))
		return len(reports) > 0
	})
	master.End(syscall.SIGKILL)
	killed := time.Now()
	until(t, "the failover", func() bool {
		now, err := sentinel.GetMasterAddrByName(t.Context(), "desk").Result()
		return err == nil && len(now) == 2 && now[1] == replica.Port
	})
	t.Logf("failover after %s", time.Since(killed).Round(10*time.Millisecond))
	f.checkReports(topics, f.wait(topics))
	t.Logf("all reports %s after the kill", time.Since(killed).Round(10*time.Millisecond))
	f.stop(w)
}
