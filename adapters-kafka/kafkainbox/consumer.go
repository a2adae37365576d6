package kafkainbox

import (
	"context"
	"errors"
	"time"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/adapters-kafka/internal/producer"
	"github.com/satchel-go/satchel/adapters-kafka/internal/severable"
	"github.com/satchel-go/satchel/core/fault"
)

// Consumer is a member of a consumer group. It keeps no state between runs.
type Consumer[Tx any] struct{ cfg Config[Tx] }

// New checks cfg, without I/O. The error joins all problems, each a *fault.Invalid.
func New[Tx any](cfg Config[Tx]) (*Consumer[Tx], error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Consumer[Tx]{cfg: cfg.withDefaults()}, nil
}

// Run joins the group and processes records until ctx ends, and then returns nil; or
// until a record failed for which there is no dead letter, and then returns a
// *RecordError. A cluster that cannot be reached does not end it: it goes on trying.
//
// When it is to end, it waits for the work under way, whose contexts have ended,
// commits offsets and leaves the group, for at most CloseTimeout before it cuts the
// connections. No goroutine of it is left when it returns; work that ignores its
// context therefore holds it up. It may be called again, and several times at once:
// each call is a member of its own.
func (c *Consumer[Tx]) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	settings, dialer := severable.Install(c.cfg.consumerConfig())
	settings.Consumer.Return.Errors = true // they are drained and logged below
	r := &run[Tx]{cfg: c.cfg, stop: stop}
	if c.cfg.DeadLetterTopic != nil {
		r.letters = producer.New(c.cfg.Brokers, deadLetterConfig(settings))
	}

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.consume(ctx, settings)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		timeout := time.NewTimer(c.cfg.CloseTimeout)
		defer timeout.Stop()
		select {
		case <-ended:
		case <-timeout.C:
			c.cfg.Logger.Warn("kafka consumer does not end in time: cutting its connections", "group", c.cfg.Group)
		}
	}
	dialer.Sever()
	r.closeLetters()
	<-ended

	if failed := (*RecordError)(nil); errors.As(context.Cause(ctx), &failed) {
		return failed
	}
	return r.fatal
}

// run is the state of one call of Run.
type run[Tx any] struct {
	cfg     Config[Tx]
	stop    context.CancelCauseFunc // ends the run; its cause is the result
	letters *producer.Producer      // nil without a dead-letter topic
	fatal   error                   // written before ended is closed
	joined  bool                    // since the last failure; owned by consume's goroutine
}

// consume goes from session to session until ctx ends.
func (r *run[Tx]) consume(ctx context.Context, settings *sarama.Config) {
	for failures := 0; ctx.Err() == nil; failures++ {
		r.joined = false
		group, err := sarama.NewConsumerGroup(r.cfg.Brokers, r.cfg.Group, settings)
		if err == nil {
			err = r.sessions(ctx, group)
		}
		if ctx.Err() != nil {
			return
		}
		if bad := sarama.ConfigurationError(""); errors.As(err, &bad) {
			r.fatal = &fault.Invalid{Field: "sarama configuration", Reason: "was refused", Cause: err}
			return
		}
		if r.joined { // this trouble is a new one
			failures = 0
		}
		r.cfg.Logger.Warn("kafka consumer group failed; joining again", "group", r.cfg.Group, "error", fault.Text(err))
		wait(ctx, r.pause(failures, 0))
	}
}

// sessions takes part in one session after the other. Each ends with a rebalance.
func (r *run[Tx]) sessions(ctx context.Context, group sarama.ConsumerGroup) error {
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		for err := range group.Errors() {
			r.cfg.Logger.Warn("kafka consumer group reports an error", "group", r.cfg.Group, "error", fault.Text(err))
		}
	}()
	var err error
	for err == nil && ctx.Err() == nil {
		err = group.Consume(ctx, r.cfg.Topics, r)
	}
	_ = group.Close() // what it could report was logged
	<-logged
	return err
}

// closeLetters ends the producer of dead letters; whoever used it has returned, or
// is cut off like the consumer.
func (r *run[Tx]) closeLetters() {
	if r.letters == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.cfg.CloseTimeout)
	defer cancel()
	if r.letters.Close(ctx) != nil {
		_ = r.letters.Close(context.Background()) // cut off now: waits for the rest to end
	}
}

var _ sarama.ConsumerGroupHandler = (*run[any])(nil)

// Setup implements sarama.ConsumerGroupHandler.
func (r *run[Tx]) Setup(sarama.ConsumerGroupSession) error {
	r.joined = true
	return nil
}

// Cleanup implements sarama.ConsumerGroupHandler.
func (r *run[Tx]) Cleanup(sarama.ConsumerGroupSession) error { return nil }

// ConsumeClaim implements sarama.ConsumerGroupHandler: it processes the records of
// one partition in order, and marks each offset after its transaction committed.
func (r *run[Tx]) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	ctx := session.Context()
	for {
		select {
		case <-ctx.Done():
			return nil
		case record, open := <-claim.Messages():
			if !open {
				return nil
			}
			if err := r.process(ctx, record); err != nil {
				if ctx.Err() == nil {
					r.stop(err)
				}
				return nil
			}
			session.MarkMessage(record, "")
		}
	}
}
