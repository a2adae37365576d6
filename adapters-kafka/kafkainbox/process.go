package kafkainbox

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
)

// process works on one record until it is done with: processed, known already, or
// stored as a dead letter. An error means that it is none of these.
func (r *run[Tx]) process(ctx context.Context, record *sarama.ConsumerMessage) error {
	m := r.cfg.Names.MessageOf(record)
	id := inbox.Message{ID: m.ID, Source: r.cfg.source(m.Topic)}
	if err := id.Validate(); err != nil {
		return r.failed(ctx, record, NoMessageID, 0, err)
	}
	workCtx := r.cfg.Propagation.Restore(ctx, m.Context)
	charged := 0
	for tries := 1; ; tries++ {
		free, err := r.attempt(workCtx, id, m)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !free {
			charged++
		}
		switch {
		case delivery.VerdictOf(err) == delivery.VerdictPermanent:
			return r.failed(ctx, record, Refused, charged, err)
		case charged >= r.cfg.MaxAttempts:
			return r.failed(ctx, record, Exhausted, charged, err)
		}
		pause := r.pause(tries-1, delivery.WaitOf(err))
		r.cfg.Logger.WarnContext(workCtx, "kafka record failed; trying again", "topic", m.Topic, "partition", m.Partition,
			"offset", m.Offset, "charged", charged, "pause", pause, "error", fault.Text(err))
		if !wait(ctx, pause) {
			return context.Cause(ctx)
		}
	}
}

// attempt makes one try in one transaction. free says that its failure is not the
// record's: the database is in trouble, or Work says that it waits for something.
func (r *run[Tx]) attempt(ctx context.Context, id inbox.Message, m kafka.Message) (free bool, err error) {
	began := false
	defer func() {
		if v := recover(); v != nil {
			free, err = false, &delivery.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	err = r.cfg.InTx(ctx, func(ctx context.Context, tx Tx) error {
		began = true
		_, err := r.cfg.Processor.Once(ctx, tx, id, func(ctx context.Context) error {
			return r.cfg.Work(ctx, tx, m)
		})
		return err
	})
	switch delivery.VerdictOf(err) {
	case delivery.VerdictUnresolvable, delivery.VerdictUnavailable:
		return true, err
	case delivery.VerdictPermanent:
		return false, err
	default:
		return !began || fault.Retryable(err), err
	}
}

// failed stores the record as a dead letter, or returns a *RecordError.
func (r *run[Tx]) failed(ctx context.Context, record *sarama.ConsumerMessage, reason Reason, attempts int, cause error) error {
	failure := &RecordError{
		Topic: record.Topic, Partition: record.Partition, Offset: record.Offset,
		Reason: reason, Attempts: attempts, Err: cause,
	}
	if r.letters == nil {
		return failure
	}
	for tries := 1; ; tries++ {
		err := r.letters.Send(ctx, []*sarama.ProducerMessage{r.deadLetter(record, failure)})[0]
		if err == nil {
			r.cfg.Logger.WarnContext(ctx, "kafka record stored as a dead letter", "topic", record.Topic,
				"partition", record.Partition, "offset", record.Offset, "reason", string(reason), "error", fault.Text(cause))
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if tries >= r.cfg.MaxAttempts {
			failure.Err = errors.Join(cause, err)
			return failure
		}
		if !wait(ctx, r.pause(tries-1, 0)) {
			return context.Cause(ctx)
		}
	}
}

// pause doubles from MinBackoff to MaxBackoff; a longer wait that was asked for is
// granted up to [MaxPause].
func (r *run[Tx]) pause(failures int, asked time.Duration) time.Duration {
	pause := r.cfg.MaxBackoff
	if failures < 30 { // beyond that the shift would overflow any sensible start
		if d := r.cfg.MinBackoff << failures; d > 0 {
			pause = min(pause, d)
		}
	}
	return max(pause, min(asked, MaxPause))
}

// wait reports whether d passed before ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
