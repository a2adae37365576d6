package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
)

// Why an entry was not sent at all.
var (
	// ErrUnknownEndpoint: the source has no endpoint with the entry's destination.
	ErrUnknownEndpoint = errors.New("webhook endpoint is not known here")
	// ErrMisconfigured is wrapped together with what is wrong about the endpoint.
	ErrMisconfigured = errors.New("webhook endpoint is misconfigured")
	// ErrPayloadTooLarge: the payload is larger than Config.MaxPayloadBytes.
	ErrPayloadTooLarge = errors.New("payload is larger than webhooks may be")
	// ErrClosed: the handler was closed.
	ErrClosed = errors.New("webhook handler is closed")
)

// Handler delivers entries of type HTTP as signed webhooks. See the package
// documentation for what is sent and how answers are read. It is safe for
// concurrent use and must be closed.
type Handler struct {
	cfg        Config
	transports *transports
	deliveries underway
	stopped    context.Context // ends when Close gives up waiting
	stop       context.CancelFunc
}

var _ delivery.Handler = (*Handler)(nil)

// NewHandler returns a handler, or all problems of cfg joined. It does no I/O.
func NewHandler(cfg Config) (*Handler, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	h := &Handler{cfg: cfg, transports: newTransports(cfg), deliveries: underway{idle: make(chan struct{})}}
	h.stopped, h.stop = context.WithCancel(context.Background())
	return h, nil
}

// Type implements delivery.Handler: destination.HTTP.
func (h *Handler) Type() destination.Type { return destination.HTTP }

// Scope implements delivery.Handler: the ids of the source's endpoints, live.
func (h *Handler) Scope() claim.Scope { return claim.Targets(h.cfg.Source.IDs) }

// Close refuses further deliveries, which are unresolvable with [ErrClosed], waits for
// those under way, and closes the connections. When ctx ends first it interrupts them,
// as the end of their own context would, and returns an error that says how many there
// were. It can be called again.
func (h *Handler) Close(ctx context.Context) error {
	defer h.transports.closeIdle()
	idle := h.deliveries.close()
	select {
	case <-idle:
		return nil
	default:
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		left := h.deliveries.count()
		h.stop()
		return fmt.Errorf("webhook handler closed before its deliveries ended (%d): %w", left, context.Cause(ctx))
	}
}

// Deliver implements delivery.Handler: one POST, and up to three redirects.
func (h *Handler) Deliver(ctx context.Context, e delivery.Envelope) error {
	if !h.deliveries.enter() {
		return delivery.Unresolvable(ErrClosed)
	}
	defer h.deliveries.leave()
	endpoint, known := h.cfg.Source.Endpoint(e.Destination)
	if !known {
		return delivery.Unresolvable(ErrUnknownEndpoint)
	}
	// A mistake in this node's configuration is not the entry's fault, and another
	// node may have it right.
	target, err := endpoint.check()
	if err != nil {
		return delivery.Unresolvable(fmt.Errorf("%w: %w", ErrMisconfigured, err))
	}
	if len(e.Payload) > h.cfg.MaxPayloadBytes {
		return delivery.Permanent(ErrPayloadTooLarge)
	}
	header, err := h.header(&e, endpoint)
	if err != nil {
		return delivery.Permanent(err)
	}
	sign(header, e.MessageID.String(), time.Now(), e.Payload, endpoint.Secrets)

	timeout := endpoint.Timeout
	if timeout == 0 {
		timeout = h.cfg.Timeout
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer context.AfterFunc(h.stopped, cancel)()
	// The transport may still read the body after the answer is there, and the
	// payload belongs to the relay again by then.
	m := message{header: header, body: bytes.Clone(e.Payload), allowPrivate: endpoint.AllowPrivate}
	return h.send(limited, target, m)
}

// message is what is sent to an endpoint, wherever it is redirected to.
type message struct {
	header       http.Header
	body         []byte
	allowPrivate bool
}

// send posts m to target and follows redirects.
func (h *Handler) send(ctx context.Context, target *url.URL, m message) error {
	for hop := 0; ; hop++ {
		status, header, err := h.post(ctx, target, m)
		if err != nil {
			return err
		}
		next := redirect(target, status, header.Get("Location"))
		if next == nil || hop == MaxRedirects {
			return outcome(status, header, time.Now())
		}
		target = next
	}
}

// post makes one request and returns what matters of the response. Its error
// carries a verdict.
func (h *Handler) post(ctx context.Context, target *url.URL, m message) (int, http.Header, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Whether the request could have reached the receiver decides what a failure
	// means. A request can get a second connection when the first, a kept one, was dead.
	var connected atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { connected.Store(false) },
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	request, err := http.NewRequestWithContext(traced, http.MethodPost, target.String(), bytes.NewReader(m.body))
	if err != nil {
		return 0, nil, failure(ctx, false, err)
	}
	request.Header = m.header.Clone()
	response, err := h.transports.roundTrip(request, m.allowPrivate) //nolint:bodyclose // drain closes it
	if err != nil {
		return 0, nil, failure(ctx, connected.Load(), err)
	}
	drain(response.Body, cancel)
	return response.StatusCode, response.Header, nil
}
