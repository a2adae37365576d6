package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/IBM/sarama"
	"github.com/eapache/go-resiliency/breaker"

	"github.com/satchel-go/satchel/adapters-kafka/internal/producer"
	"github.com/satchel-go/satchel/core/delivery"
)

// ErrClosed is wrapped by the error of every delivery after Close began.
var ErrClosed = producer.ErrClosed

// verdicts says what an answer of the cluster means for an entry, once sarama has
// used up its own retries where it has any. The rule behind the table: what lies in
// the record is permanent; what lies in the topic's name or rights waits without a
// charge, because creating the topic or granting the right repairs it and another
// node may be connected elsewhere; what lies in the cluster pauses the topic without
// a charge, so that an outage never turns entries into dead letters. Everything that
// is not listed is retryable, which is also where the outcome is unknown.
var verdicts = map[sarama.KError]delivery.Verdict{
	sarama.ErrInvalidMessage:         delivery.VerdictPermanent, // corrupt, or no key for a compacted topic on old brokers
	sarama.ErrMessageSizeTooLarge:    delivery.VerdictPermanent,
	sarama.ErrMessageSetSizeTooLarge: delivery.VerdictPermanent,
	sarama.ErrInvalidTopic:           delivery.VerdictPermanent,
	sarama.ErrInvalidTimestamp:       delivery.VerdictPermanent,
	sarama.ErrInvalidRecord:          delivery.VerdictPermanent, // refused by the topic's rules, such as no key on a compacted one

	sarama.ErrUnknownTopicOrPartition:  delivery.VerdictUnresolvable,
	sarama.ErrTopicAuthorizationFailed: delivery.VerdictUnresolvable,

	sarama.ErrLeaderNotAvailable:           delivery.VerdictUnavailable, // no leader through all retries
	sarama.ErrBrokerNotAvailable:           delivery.VerdictUnavailable,
	sarama.ErrNotEnoughReplicas:            delivery.VerdictUnavailable, // the partition takes no writes of anybody
	sarama.ErrNotEnoughReplicasAfterAppend: delivery.VerdictUnavailable,
	sarama.ErrClusterAuthorizationFailed:   delivery.VerdictUnavailable,
	sarama.ErrUnsupportedSASLMechanism:     delivery.VerdictUnavailable,
	sarama.ErrIllegalSASLState:             delivery.VerdictUnavailable,
	sarama.ErrSASLAuthenticationFailed:     delivery.VerdictUnavailable,
}

// rejectsRequest reports whether err refuses a whole request because of something in
// one of its records, with nothing of it stored.
func rejectsRequest(err error) bool {
	var code sarama.KError
	if !errors.As(err, &code) {
		return false
	}
	switch code {
	case sarama.ErrInvalidMessage, sarama.ErrMessageSizeTooLarge, sarama.ErrMessageSetSizeTooLarge,
		sarama.ErrInvalidTimestamp, sarama.ErrInvalidRecord:
		return true
	}
	return false
}

// classify turns the result of a record into the result of an attempt.
func classify(err error) error {
	switch verdictOf(err) {
	case delivery.VerdictDelivered:
		return nil
	case delivery.VerdictPermanent:
		return delivery.Permanent(named(err))
	case delivery.VerdictUnresolvable:
		return delivery.Unresolvable(named(err))
	case delivery.VerdictUnavailable:
		return delivery.Unavailable(named(err))
	default:
		return named(err)
	}
}

func verdictOf(err error) delivery.Verdict {
	if err == nil {
		return delivery.VerdictDelivered
	}
	if neverSent(err) {
		return delivery.VerdictUnavailable
	}
	var code sarama.KError
	if errors.As(err, &code) {
		if v, listed := verdicts[code]; listed {
			return v
		}
	}
	if unreachable(err) {
		return delivery.VerdictUnavailable
	}
	return delivery.VerdictRetryable
}

// neverSent: no connection, or a client that takes nothing any more. A caller that
// cancelled the attempt is not the cluster's fault.
func neverSent(err error) bool {
	var unsent *producer.NotSentError
	return errors.As(err, &unsent) && !errors.Is(err, context.Canceled)
}

// brokenConnection: the connection broke, and broke again through sarama's retries. It
// says nothing yet: the broker may be gone, or may hang up on a request that it finds
// too large, which has to be charged to the entry.
func brokenConnection(err error) bool {
	var network net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, sarama.ErrNotConnected) || errors.As(err, &network) && !errors.Is(err, context.DeadlineExceeded)
}

// unreachable: no broker answers, or a connection cannot even be opened.
func unreachable(err error) bool {
	var dial *net.OpError
	return errors.Is(err, sarama.ErrOutOfBrokers) ||
		errors.Is(err, breaker.ErrBreakerOpen) || // sarama's pause after three failures to learn about the topic
		errors.As(err, &dial) && dial.Op == "dial"
}

// named adds the number of a cluster's answer, which the text does not have, to err.
func named(err error) error {
	var code sarama.KError
	if errors.As(err, &code) {
		return fmt.Errorf("kafka error code %d: %w", int16(code), err)
	}
	return err
}
