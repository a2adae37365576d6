package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/propagation"
)

type work = func(ctx context.Context, tx *memstore.Tx, m Message) error

// inTx is what an application writes once for its database.
func inTx(store *memstore.Store) func(context.Context, func(context.Context, *memstore.Tx) error) error {
	return func(ctx context.Context, do func(context.Context, *memstore.Tx) error) error {
		tx := store.Begin()
		if err := do(ctx, tx); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	}
}

func receiverConfig(do work) ReceiverConfig[*memstore.Tx] {
	store := memstore.New(memstore.Config{})
	return ReceiverConfig[*memstore.Tx]{
		Secrets: []Secret{NewSecret()}, Source: "billing", Processor: memstore.NewProcessor(store), InTx: inTx(store), Work: do,
	}
}

func receiver(t *testing.T, cfg ReceiverConfig[*memstore.Tx]) *Receiver[*memstore.Tx] {
	t.Helper()
	r, err := NewReceiver(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// signed is a request as a sender with the secret makes it.
func signed(id, body string, secret Secret) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	sign(r.Header, id, time.Now(), []byte(body), []Secret{secret})
	return r
}

func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestSenderAndReceiver(t *testing.T) {
	t.Parallel()
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	var got []Message
	var restored []string
	cfg := receiverConfig(func(ctx context.Context, _ *memstore.Tx, m Message) error {
		got = append(got, m)
		restored = append(restored, propagation.From(ctx, propagation.TraceParent), propagation.From(ctx, propagation.Locale))
		return nil
	})
	cfg.Propagation = propagation.NewSet(nil, propagation.Standard()...)
	cfg.ReservedPrefix = "acme-"
	endpoint := server(t, receiver(t, cfg).ServeHTTP)
	endpoint.Secrets = cfg.Secrets
	h := handlerFor(t, Config{ReservedPrefix: "ACME-"}, endpoint)

	e := envelope(`{"order": 42}`)
	e.Headers = map[string]string{"x-tenant": "7"}
	e.Metadata.Context = map[string]json.RawMessage{
		propagation.TraceParent: json.RawMessage(`"` + parent + `"`), propagation.Locale: json.RawMessage(`"de-AT"`),
	}
	for range 3 { // the second and third are duplicates, and acknowledged all the same
		if err := h.Deliver(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != 1 {
		t.Fatalf("the work ran %d times", len(got))
	}
	m := got[0]
	if m.ID != e.MessageID.String() || m.EventType != e.EventType || m.ContentType != e.ContentType ||
		string(m.Body) != string(e.Payload) || m.Header.Get("x-tenant") != "7" || time.Since(m.Timestamp).Abs() > generous {
		t.Errorf("got %+v", m)
	}
	if restored[0] != parent || restored[1] != "de-AT" {
		t.Errorf("restored %q", restored)
	}
}

func TestReceiverRefuses(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	cfg := receiverConfig(func(context.Context, *memstore.Tx, Message) error { ran.Add(1); return nil })
	cfg.MaxBodyBytes, cfg.Tolerance = 100, time.Minute
	r := receiver(t, cfg)
	secret := cfg.Secrets[0]
	method := signed("m", "{}", secret)
	method.Method = http.MethodGet
	bare := signed("m", "{}", secret)
	bare.Header.Del(HeaderSignature)
	stale := signed("m", "{}", secret)
	sign(stale.Header, "m", time.Now().Add(-2*time.Minute), []byte("{}"), cfg.Secrets)
	broken := signed("m", "{}", secret)
	broken.Body = io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF))
	for name, c := range map[string]struct {
		request *http.Request
		want    int
	}{
		"other method":   {method, http.StatusMethodNotAllowed},
		"no signature":   {bare, http.StatusBadRequest},
		"other secret":   {signed("m", "{}", NewSecret()), http.StatusUnauthorized},
		"stale":          {stale, http.StatusUnauthorized},
		"too large":      {signed("m", strings.Repeat("x", 101), secret), http.StatusRequestEntityTooLarge},
		"broken body":    {broken, http.StatusBadRequest},
		"id too long":    {signed(strings.Repeat("m", 256), "{}", secret), http.StatusBadRequest},
		"blank id":       {signed(" ", "{}", secret), http.StatusBadRequest},
		"id not unicode": {signed("\xff", "{}", secret), http.StatusBadRequest},
	} {
		w := serve(r, c.request)
		if w.Code != c.want {
			t.Errorf("%s: got %d, want %d", name, w.Code, c.want)
		}
		if c.want == http.StatusMethodNotAllowed && w.Header().Get("Allow") != http.MethodPost {
			t.Errorf("%s: allows %q", name, w.Header().Get("Allow"))
		}
	}
	if n := ran.Load(); n != 0 {
		t.Fatalf("the work ran %d times", n)
	}
	if w := serve(r, signed("m", strings.Repeat("x", 100), secret)); w.Code != http.StatusNoContent || ran.Load() != 1 {
		t.Errorf("a body as large as allowed: got %d, ran %d times", w.Code, ran.Load())
	}
}

// Whatever fails, the message can be processed later, and nobody outside learns why.
func TestReceiverFailures(t *testing.T) {
	t.Parallel()
	secretly := errors.New("s3cret")
	for name, c := range map[string]struct {
		work  error
		panic any
		want  int
		wait  string
	}{
		"plain error":  {work: secretly, want: 500},
		"panic":        {panic: secretly, want: 500},
		"permanent":    {work: fmt.Errorf("wrapped: %w", delivery.Permanent(secretly)), want: 422},
		"later":        {work: delivery.RetryAfter(secretly, 1500*time.Millisecond), want: 503, wait: "2"},
		"much later":   {work: delivery.RetryAfter(secretly, 48*time.Hour), want: 503, wait: "172800"},
		"unresolvable": {work: delivery.Unresolvable(secretly), want: 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			fail := true
			cfg := receiverConfig(func(context.Context, *memstore.Tx, Message) error {
				if !fail {
					return nil
				}
				if c.panic != nil {
					panic(c.panic)
				}
				return c.work
			})
			cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
			r := receiver(t, cfg)
			w := serve(r, signed("m", "{}", cfg.Secrets[0]))
			if w.Code != c.want || w.Header().Get("Retry-After") != c.wait {
				t.Errorf("got %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
			}
			if strings.Contains(w.Body.String(), "s3cret") {
				t.Error("the answer holds the error")
			}
			if !strings.Contains(log.String(), "webhook not processed") {
				t.Error("the logger was not told")
			}
			fail = false
			if w := serve(r, signed("m", "{}", cfg.Secrets[0])); w.Code != http.StatusNoContent {
				t.Errorf("later: got %d", w.Code)
			}
		})
	}
}

// The answer waits for the commit, and is that of the commit.
func TestReceiverAnswersAfterTheCommit(t *testing.T) {
	t.Parallel()
	var ran int
	cfg := receiverConfig(func(context.Context, *memstore.Tx, Message) error { ran++; return nil })
	commit := cfg.InTx
	broken := true
	cfg.InTx = func(ctx context.Context, do func(context.Context, *memstore.Tx) error) error {
		return commit(ctx, func(ctx context.Context, tx *memstore.Tx) error {
			if err := do(ctx, tx); err != nil {
				return err
			}
			if broken {
				return errors.New("commit failed")
			}
			return nil
		})
	}
	r := receiver(t, cfg)
	if w := serve(r, signed("m", "{}", cfg.Secrets[0])); w.Code != http.StatusInternalServerError {
		t.Fatalf("without a commit: got %d", w.Code)
	}
	broken = false
	if w := serve(r, signed("m", "{}", cfg.Secrets[0])); w.Code != http.StatusNoContent || ran != 2 {
		t.Fatalf("with a commit: got %d, ran %d times", w.Code, ran)
	}
}

func TestReceiverConcurrently(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	cfg := receiverConfig(func(context.Context, *memstore.Tx, Message) error { ran.Add(1); return nil })
	r := receiver(t, cfg)
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			if w := serve(r, signed(fmt.Sprint("m", i%4), "{}", cfg.Secrets[0])); w.Code != http.StatusNoContent {
				t.Errorf("got %d", w.Code)
			}
		})
	}
	wg.Wait()
	if n := ran.Load(); n != 4 {
		t.Fatalf("4 messages ran %d times", n)
	}
}
