package main

import (
	"context"
	"os"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/wiring"
	"github.com/satchel-go/satchel/wiring/kafkaonly"
	"github.com/satchel-go/satchel/wiring/settings"
)

func run(ctx context.Context, url string, cfg kafka.Config) error {
	// block 1
	return err
}

func main() { _ = run(context.Background(), "", kafka.Config{}) }
