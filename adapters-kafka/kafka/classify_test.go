package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/IBM/sarama"
	"github.com/eapache/go-resiliency/breaker"

	"github.com/satchel-go/satchel/adapters-kafka/internal/producer"
	"github.com/satchel-go/satchel/core/delivery"
)

func TestVerdicts(t *testing.T) {
	t.Parallel()
	dial := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	read := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	for _, c := range []struct {
		name string
		err  error
		want delivery.Verdict
	}{
		{"none", nil, delivery.VerdictDelivered},
		{"too large", sarama.ErrMessageSizeTooLarge, delivery.VerdictPermanent},
		{"wrapped", fmt.Errorf("a: %w", &sarama.ProducerError{Msg: &sarama.ProducerMessage{}, Err: sarama.ErrInvalidRecord}), delivery.VerdictPermanent},
		{"unknown topic", sarama.ErrUnknownTopicOrPartition, delivery.VerdictUnresolvable},
		{"topic rights", sarama.ErrTopicAuthorizationFailed, delivery.VerdictUnresolvable},
		{"cluster rights", sarama.ErrClusterAuthorizationFailed, delivery.VerdictUnavailable},
		{"password", sarama.ErrSASLAuthenticationFailed, delivery.VerdictUnavailable},
		{"leader", sarama.ErrLeaderNotAvailable, delivery.VerdictUnavailable},
		{"replicas", sarama.ErrNotEnoughReplicasAfterAppend, delivery.VerdictUnavailable},
		{"no broker", sarama.Wrap(sarama.ErrOutOfBrokers, dial), delivery.VerdictUnavailable},
		{"no broker because of the password", sarama.Wrap(sarama.ErrOutOfBrokers, sarama.ErrSASLAuthenticationFailed), delivery.VerdictUnavailable},
		{"dial", dial, delivery.VerdictUnavailable},
		{"client gave up on the topic", breaker.ErrBreakerOpen, delivery.VerdictUnavailable},
		{"connection broke", read, delivery.VerdictRetryable},
		{"broker hung up", io.EOF, delivery.VerdictRetryable},
		{"time-out of the broker", sarama.ErrRequestTimedOut, delivery.VerdictRetryable},
		{"time-out of the connection", os.ErrDeadlineExceeded, delivery.VerdictRetryable},
		{"unknown answer", sarama.KError(9999), delivery.VerdictRetryable},
		{"anything", errors.New("kafka: message too large"), delivery.VerdictRetryable}, // the text means nothing
		{"never sent in time", &producer.NotSentError{Err: context.DeadlineExceeded}, delivery.VerdictUnavailable},
		{"never sent, whatever was answered", &producer.NotSentError{Err: sarama.ErrInvalidRecord}, delivery.VerdictUnavailable},
		{"never sent, cancelled", &producer.NotSentError{Err: context.Canceled}, delivery.VerdictRetryable},
		{"no result in time", &producer.UnknownError{Err: context.DeadlineExceeded}, delivery.VerdictRetryable},
		{"closed", &producer.NotSentError{Err: ErrClosed}, delivery.VerdictUnavailable},
	} {
		got := classify(c.err)
		if v := delivery.VerdictOf(got); v != c.want {
			t.Errorf("%s: %v, want %v", c.name, v, c.want)
		}
		if c.err != nil && !errors.Is(got, c.err) {
			t.Errorf("%s: the cause is not in the error", c.name)
		}
	}
}

// A connection that broke asks for a look at the cluster; an ended context does not.
func TestBrokenConnection(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		io.EOF: true, io.ErrUnexpectedEOF: true, sarama.ErrNotConnected: true, os.ErrDeadlineExceeded: true,
		&net.OpError{Op: "read", Err: syscall.ECONNRESET}:     true,
		&producer.UnknownError{Err: context.DeadlineExceeded}: false,
		&producer.UnknownError{Err: context.Canceled}:         false,
		sarama.ErrRequestTimedOut:                             false,
		sarama.ErrMessageSizeTooLarge:                         false,
	} {
		if got := brokenConnection(err); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}
