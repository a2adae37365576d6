package webhook

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
)

// Message is a verified webhook as a receiver's work sees it.
type Message struct {
	// ID is the message id, the same on every attempt. It is a text, as in an inbox: a
	// sender other than satchel may use ids that are not UUIDs.
	ID string
	// Timestamp is the time of this attempt by the sender's clock, to the second.
	Timestamp time.Time
	// EventType is empty if the sender is not a satchel relay. It is not signed.
	EventType string
	// ContentType describes Body. It is not signed.
	ContentType string
	// Body is the payload as it was signed.
	Body []byte
	// Header is the whole header of the request.
	Header http.Header
}

// Receiver is an http.Handler that processes each webhook once. Tx is the type of
// the transaction in which the work is done. It answers
//
//	204  processed and committed, now or before
//	400  the headers are missing or malformed
//	401  the signature does not match, or the timestamp is outside the tolerance
//	405  the method is not POST
//	413  the body is too large
//	422  the work returned delivery.Permanent: sending it again is pointless
//	503  the work returned delivery.RetryAfter: with a Retry-After header
//	500  anything else; the sender is expected to try again
//
// and never says more than that: errors go to the logger. A panic of the work is
// an error like any other.
type Receiver[Tx any] struct{ cfg ReceiverConfig[Tx] }

// NewReceiver returns a receiver, or all problems of cfg joined.
func NewReceiver[Tx any](cfg ReceiverConfig[Tx]) (*Receiver[Tx], error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Receiver[Tx]{cfg: cfg}, nil
}

// ServeHTTP implements http.Handler. The time a client may take to send its
// request is for the http.Server to limit.
func (r *Receiver[Tx]) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		reply(w, http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, r.cfg.MaxBodyBytes))
	if err != nil {
		status := http.StatusBadRequest
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		reply(w, status)
		return
	}
	switch err := Verify(request.Header, body, r.cfg.Secrets, r.cfg.Tolerance); {
	case errors.Is(err, ErrHeaders):
		reply(w, http.StatusBadRequest)
		return
	case err != nil:
		r.cfg.Logger.WarnContext(request.Context(), "webhook refused", "reason", err)
		reply(w, http.StatusUnauthorized)
		return
	}
	r.process(w, request, body)
}

// process does the work for a verified request.
func (r *Receiver[Tx]) process(w http.ResponseWriter, request *http.Request, body []byte) {
	m := r.message(request, body)
	mark := inbox.Message{ID: m.ID, Source: r.cfg.Source}
	if mark.Validate() != nil {
		reply(w, http.StatusBadRequest)
		return
	}
	ctx := r.cfg.Propagation.Restore(request.Context(), readContext(request.Header, r.cfg.ReservedPrefix))
	// Only after InTx has returned nil is the transaction committed, and only then
	// may the sender forget the message.
	if err := r.runOnce(ctx, mark, m); err != nil {
		r.cfg.Logger.ErrorContext(ctx, "webhook not processed", "error", fault.Text(err))
		replyError(w, err)
		return
	}
	reply(w, http.StatusNoContent)
}

func (r *Receiver[Tx]) message(request *http.Request, body []byte) Message {
	seconds, _ := strconv.ParseInt(request.Header.Get(HeaderTimestamp), 10, 64) // Verify has read it
	return Message{
		ID:          request.Header.Get(HeaderID),
		Timestamp:   time.Unix(seconds, 0),
		EventType:   request.Header.Get(r.cfg.ReservedPrefix + eventTypeHeader),
		ContentType: request.Header.Get("Content-Type"),
		Body:        body,
		Header:      request.Header,
	}
}

func (r *Receiver[Tx]) runOnce(ctx context.Context, mark inbox.Message, m Message) error {
	return r.cfg.InTx(ctx, func(ctx context.Context, tx Tx) (err error) {
		// Inside the transaction's function, so that it is rolled back.
		defer func() {
			if v := recover(); v != nil {
				err = &delivery.PanicError{Value: v, Stack: debug.Stack()}
			}
		}()
		_, err = r.cfg.Processor.Once(ctx, tx, mark, func(ctx context.Context) error {
			return r.cfg.Work(ctx, tx, m)
		})
		return err
	})
}

// replyError answers for a failure of the work or of the transaction.
func replyError(w http.ResponseWriter, err error) {
	wait := delivery.WaitOf(err)
	switch {
	case delivery.VerdictOf(err) == delivery.VerdictPermanent:
		reply(w, http.StatusUnprocessableEntity)
	case wait > 0:
		w.Header().Set("Retry-After", strconv.FormatFloat(math.Ceil(wait.Seconds()), 'f', 0, 64))
		reply(w, http.StatusServiceUnavailable)
	default:
		reply(w, http.StatusInternalServerError)
	}
}

// reply answers with the status and, where a body is allowed, its usual text.
func reply(w http.ResponseWriter, status int) {
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return
	}
	http.Error(w, http.StatusText(status), status)
}
