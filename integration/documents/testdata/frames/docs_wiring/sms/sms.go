// Package sms is a destination.
package sms

import (
	"context"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
)

type Config struct{}

type Handler struct{}

func NewHandler(Config) (*Handler, error) { return &Handler{}, nil }

func (*Handler) Type() destination.Type { return "SMS" }

func (*Handler) Scope() claim.Scope { return claim.All() }

func (*Handler) Deliver(context.Context, delivery.Envelope) error { return nil }
