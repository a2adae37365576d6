package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/satchel-go/satchel/adapters-service/service"
)

// wireMessage is what a service handler posts to the consumer.
type wireMessage struct {
	MessageID   string     `json:"messageId"`
	Destination string     `json:"destination"`
	Event       OrderEvent `json:"event"`
}

// forwarder posts events to the consumer, which is another process.
type forwarder struct {
	consumer string // base URL
	client   *http.Client
}

func newForwarder(consumer string, connections int) *forwarder {
	transport := &http.Transport{MaxIdleConnsPerHost: connections, IdleConnTimeout: time.Minute}
	return &forwarder{consumer: consumer, client: &http.Client{Transport: transport}}
}

// forward is the handler of every operation. Nil means that the consumer has committed.
func (f *forwarder) forward(ctx context.Context, event OrderEvent) error {
	m, _ := service.MessageFrom(ctx)
	body, err := json.Marshal(wireMessage{MessageID: m.ID.String(), Destination: m.Operation, Event: event})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.consumer+"/messages", bytes.NewReader(body))
	if err != nil {
		return err
	}
	reply, err := f.client.Do(request)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(reply.Body, 1<<10)) // so that the connection can be used again
	_ = reply.Body.Close()
	if reply.StatusCode != http.StatusNoContent {
		return fmt.Errorf("consumer answered %d", reply.StatusCode)
	}
	return nil
}
