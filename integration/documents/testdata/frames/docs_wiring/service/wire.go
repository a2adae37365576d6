//go:build wireinject

package service

import (
	"github.com/google/wire"

	"example.com/documents/docs_wiring/sms"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/config"
	"github.com/satchel-go/satchel/wiring"
	"github.com/satchel-go/satchel/wiring/kafkaset"
)

// block 2
