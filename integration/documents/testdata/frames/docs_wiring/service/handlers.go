package service

import (
	"example.com/documents/docs_wiring/sms"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/delivery"
)

// The injector exists once wire has generated it.
//
//go:generate go run github.com/google/wire/cmd/wire .
var _ = newService

// block 3
