// Package sms is the library of a vendor.
package sms

import (
	"context"
	"errors"
)

var (
	ErrUnknownGateway = errors.New("unknown gateway")
	ErrRejected       = errors.New("rejected")
	ErrDown           = errors.New("down")
)

type Client struct{}

func (*Client) Gateways() []string { return nil }

func (*Client) Send(ctx context.Context, gateway, id string, message []byte) error { return nil }
