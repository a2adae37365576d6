// Package customdestination delivers entries as text messages to telephones.
package customdestination

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
)

// SMS is the destination type. A type is an open value: nothing has to be told of a new one.
const SMS destination.Type = "SMS"

// What a gateway's client returns.
var (
	ErrUnknownGateway = errors.New("sms: no such gateway")
	ErrRejected       = errors.New("sms: the message was rejected")
	ErrDown           = errors.New("sms: the gateway is down")
)

// Client is what the handler needs of a vendor's library. Send passes an id along by which
// the gateway recognises a message that it had before.
type Client interface {
	Gateways() []string
	Send(ctx context.Context, gateway, id, telephone, text string) error
}

// Text is the payload of an entry.
type Text struct {
	Telephone string `json:"telephone"`
	Text      string `json:"text"`
}

// Handler is the delivery.Handler of the type SMS.
type Handler struct{ client Client }

var _ delivery.Handler = (*Handler)(nil)

// NewHandler returns a handler that sends through client.
func NewHandler(client Client) *Handler { return &Handler{client: client} }

// Type implements delivery.Handler.
func (h *Handler) Type() destination.Type { return SMS }

// Scope implements delivery.Handler: this node serves the gateways that its client knows at
// the moment. Entries for others wait for another node.
func (h *Handler) Scope() claim.Scope { return claim.Targets(h.client.Gateways) }

// Deliver implements delivery.Handler. The error says what becomes of the entry.
func (h *Handler) Deliver(ctx context.Context, e delivery.Envelope) error {
	var t Text
	// The decoder's own error would quote the payload.
	if json.Unmarshal(e.Payload, &t) != nil || t.Telephone == "" {
		return delivery.Permanent(errors.New("payload is not a text message"))
	}
	err := h.client.Send(ctx, e.Destination, e.MessageID.String(), t.Telephone, t.Text)
	switch {
	case errors.Is(err, ErrUnknownGateway):
		return delivery.Unresolvable(err) // another node may know it; no attempt is charged
	case errors.Is(err, ErrRejected):
		return delivery.Permanent(err) // no attempt can help
	case errors.Is(err, ErrDown):
		return delivery.Unavailable(err) // this gateway is paused and probed; no attempt is charged
	}
	return err // nil is delivered, anything else is tried again
}
