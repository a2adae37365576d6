package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
)

// want checks the verdict of a delivery that got no answer.
func want(t *testing.T, err error, verdict delivery.Verdict, connected bool) {
	t.Helper()
	var failed *RequestError
	if delivery.VerdictOf(err) != verdict || !errors.As(err, &failed) || failed.Connected != connected {
		t.Errorf("got %v, connected %v (%v); want %v, connected %v", delivery.VerdictOf(err), failed != nil && failed.Connected, err, verdict, connected)
	}
	if err != nil && strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("the text %q holds an address", err)
	}
}

// tcp starts a server that does as it likes with a connection.
func tcp(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(conn)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String()
}

// deaf returns an address at which nobody listens and nobody else can begin to.
func deaf(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	err := handlerFor(t, Config{}, local("http://"+deaf(t))).Deliver(t.Context(), envelope("{}"))
	want(t, err, delivery.VerdictUnavailable, false)
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the cause is lost: %v", err)
	}
}

func TestNoAnswerInTime(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	endpoint := server(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-release
	})
	defer close(release)
	t.Run("the endpoint's own limit", func(t *testing.T) {
		endpoint := endpoint
		endpoint.Timeout = 100 * time.Millisecond
		want(t, handlerFor(t, Config{}, endpoint).Deliver(t.Context(), envelope("{}")), delivery.VerdictRetryable, true)
	})
	t.Run("the handler's limit", func(t *testing.T) {
		h := handlerFor(t, Config{Timeout: 100 * time.Millisecond}, endpoint)
		want(t, h.Deliver(t.Context(), envelope("{}")), delivery.VerdictRetryable, true)
	})
	t.Run("the caller's limit", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		want(t, handlerFor(t, Config{}, endpoint).Deliver(ctx, envelope("{}")), delivery.VerdictRetryable, true)
	})
}

func TestNoHandshakeInTime(t *testing.T) {
	t.Parallel()
	address := tcp(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }) // until the client gives up
	endpoint := local("https://" + address)
	endpoint.Timeout = 100 * time.Millisecond
	want(t, handlerFor(t, Config{}, endpoint).Deliver(t.Context(), envelope("{}")), delivery.VerdictUnavailable, false)
}

func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"none": "", "nonsense": "s3cret nonsense\r\n\r\n", "half": "HTTP/1.1 200 OK\r\nContent-",
		"endless header": "HTTP/1.1 200 OK\r\nX-A: " + strings.Repeat("a", 2*maxResponseHeaders) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := tcp(t, func(conn net.Conn) {
				buf := make([]byte, 4096)
				_, _ = conn.Read(buf)
				_, _ = io.WriteString(conn, answer)
			})
			err := handlerFor(t, Config{}, local("http://"+address)).Deliver(t.Context(), envelope("{}"))
			want(t, err, delivery.VerdictRetryable, true)
			if strings.Contains(fmt.Sprint(err), "s3cret") {
				t.Errorf("the error repeats the answer: %v", err)
			}
		})
	}
}

// What comes after the status changes nothing, and cannot hold the delivery up.
func TestBodiesAfterTheStatus(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]func(context.Context, http.ResponseWriter){
		"endless": func(ctx context.Context, w http.ResponseWriter) {
			for chunk := make([]byte, 32<<10); ctx.Err() == nil; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		},
		"stuck": func(ctx context.Context, w http.ResponseWriter) {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-ctx.Done()
		},
		"cut off": func(_ context.Context, w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "short")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint := server(t, func(w http.ResponseWriter, r *http.Request) { body(r.Context(), w) })
			ctx, cancel := context.WithTimeout(t.Context(), generous)
			defer cancel()
			if err := handlerFor(t, Config{Timeout: MaxTimeout}, endpoint).Deliver(ctx, envelope("{}")); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	var protocol atomic.Value
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { protocol.Store(r.Proto) }))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = nil
	s.StartTLS()
	t.Cleanup(s.Close)
	endpoint := local(s.URL)
	endpoint.AllowInsecure = false

	err := handlerFor(t, Config{}, endpoint).Deliver(t.Context(), envelope("{}"))
	want(t, err, delivery.VerdictUnavailable, false)
	var unknown x509.UnknownAuthorityError
	if !errors.As(err, &unknown) {
		t.Errorf("the cause is lost: %v", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	if err := handlerFor(t, Config{TLS: &tls.Config{RootCAs: roots}}, endpoint).Deliver(t.Context(), envelope("{}")); err != nil {
		t.Fatal(err)
	}
	if protocol.Load() != "HTTP/2.0" {
		t.Errorf("spoke %v", protocol.Load())
	}
	plain := local("https://" + strings.TrimPrefix(server(t, func(http.ResponseWriter, *http.Request) {}).URL, "http://"))
	want(t, handlerFor(t, Config{}, plain).Deliver(t.Context(), envelope("{}")), delivery.VerdictUnavailable, false)
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	elsewhere := server(t, func(http.ResponseWriter, *http.Request) { t.Error("a redirect left the host") })
	var bodies atomic.Int32
	endpoint := server(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPost && string(body) == `{"a":1}` && r.Header.Get(HeaderSignature) != "" {
			bodies.Add(1)
		}
		target := map[string]string{
			"/once": "/end", "/thrice": "/twice", "/twice": "/once", "/four": "/thrice", "/loop": "/loop",
			"/out": elsewhere.URL, "/bare": "",
		}[r.URL.Path]
		if r.URL.Path == "/end" {
			return
		}
		if target != "" {
			w.Header().Set("Location", target)
		}
		w.WriteHeader(http.StatusPermanentRedirect)
	})
	base := endpoint.URL
	for path, c := range map[string]struct {
		requests int32
		want     delivery.Verdict
	}{
		"/end": {1, delivery.VerdictDelivered}, "/once": {2, delivery.VerdictDelivered}, "/thrice": {4, delivery.VerdictDelivered},
		"/four": {4, delivery.VerdictPermanent}, "/loop": {4, delivery.VerdictPermanent}, "/out": {1, delivery.VerdictPermanent},
		"/bare": {1, delivery.VerdictPermanent},
	} {
		bodies.Store(0)
		endpoint.URL = base + path
		err := handlerFor(t, Config{}, endpoint).Deliver(t.Context(), envelope(`{"a":1}`))
		if got := delivery.VerdictOf(err); got != c.want || bodies.Load() != c.requests {
			t.Errorf("%s: got %v after %d whole requests, want %v after %d (%v)", path, got, bodies.Load(), c.want, c.requests, err)
		}
	}
}
